import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { rawRequest, type Stack, sendRaw, startRecordingOrigins, startStack } from "../stack.ts";

let origins: Awaited<ReturnType<typeof startRecordingOrigins>>;
let stack: Stack;
beforeAll(async () => {
  origins = await startRecordingOrigins();
  stack = await startStack(origins.declared);
});
afterAll(async () => {
  await stack?.stop();
  await origins?.stop();
});
beforeEach(() => {
  origins.recorded.length = 0;
});

const ID = "01990f04-d900-8009-8040-000000000001";

describe("the octets of path and query", () => {
  it.each([
    `/orders/${ID}`,
    `/orders/${ID}?`,
    `/orders/${ID}/?a=1&a=2&b=%2F&c=+&d=%zz`,
    `/orders/${ID}/.well-known/...//..a/.b.?x=/../y`,
    `/orders/${ID}?q=%27a%27`,
    `/orders/${ID}//x///`,
    `/orders/${ID}/%2e%2E%2fetc;v=1,2/%C3%A9/%e2`,
    `/orders/${ID}/a:b@c!$&'()*+,;=~`,
    `/orders/${ID}/any/x?/orders/y`,
  ])("reach the origin as they were sent: %s", async (target) => {
    expect((await rawRequest(stack.gateway.port, "GET", target)).status).toBe(200);
    expect(origins.recorded.map(({ url }) => url)).toEqual([target]);
  });
});

describe("tricks with the target", () => {
  it.each([
    [`http://evil.test/orders/${ID}`, 200],
    [`//evil.test/orders/${ID}`, 404],
    [`/\\evil.test/orders/${ID}`, 400],
    [`/orders/../-/health/../orders/${ID}`, 400],
    [`/orders/%2e%2e/orders/${ID}`, 400],
    [`/orders/${ID}/../../rides/x`, 400],
    [`/orders/${ID}/.%2E/..`, 400],
    [`/orders/${ID}/a/.`, 400],
    [`/orders/${ID}/a\\..\\b`, 400],
    [`/any/${ID}/../x`, 400],
    [`/@evil.test/orders/${ID}`, 404],
  ])("%s leads to no other host", async (target, status) => {
    const answer = await rawRequest(stack.gateway.port, "GET", target);
    expect(answer.status).toBe(status);
    expect(origins.recorded.every(({ region, url }) => region === "eu" && url === `/orders/${ID}`)).toBe(true);
  });

  const withHost = (host: string, target: string) =>
    sendRaw(stack.gateway.port, `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);

  it.each([
    "gw/admin",
    "gw?x",
    "gw#x",
    "a@gw",
    "gw\\x",
    "a%41",
    "a!b",
    "web.1",
    "1.2.3.999",
    "0x7f.1.1",
    "127.1",
    "[::1",
    "[1.2.3.4]",
    "gw:65536",
    "gw::",
  ])("a host field of %s is a 400 on every path", async (host) => {
    for (const target of [`/orders/${ID}`, `/any/${ID}`, "/-/health", "/-/openapi.json", "/"]) {
      expect((await withHost(host, target)).status).toBe(400);
    }
    expect(origins.recorded).toEqual([]);
    expect(stack.gateway.lines.filter((line) => /defect|exception/i.test(line))).toEqual([]);
  });

  it("a port may be empty, or have leading zeros (RFC 3986 §3.2.3)", async () => {
    for (const host of ["gw.test:", "gw.test:00080", "[::1]:"]) {
      expect((await withHost(host, `/orders/${ID}`)).status).toBe(200);
      expect(origins.recorded.at(-1)?.headers["x-forwarded-host"]).toBe(host);
    }
  });

  it("the runtime puts the host field in place of an absolute target's host", async () => {
    await rawRequest(stack.gateway.port, "GET", `http://eu.example.com/orders/${ID}`);
    expect(origins.recorded[0]?.headers["x-forwarded-host"]).toBe("gw.test");
  });

  it("CONNECT opens no tunnel, and leaves no line in the log (RFC 9110 §9.3.6)", async () => {
    for (const target of ["eu.example.com:443", "127.0.0.1:22", `/orders/${ID}`]) {
      const answer = await sendRaw(stack.gateway.port, `CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`);
      expect(answer.status).toBe(500);
    }
    expect(stack.gateway.lines.filter((line) => /connect|exception/i.test(line))).toEqual([]);
  });

  it("TRACE is refused, since it would show the client what the gateway adds", async () => {
    const answer = await rawRequest(stack.gateway.port, "TRACE", `/orders/${ID}`);
    expect([answer.status, JSON.parse(answer.body).type]).toEqual([405, "/-/problems/method-not-allowed"]);
    expect(answer.head).toMatch(/^allow: GET, HEAD/im);
    expect(origins.recorded).toEqual([]);
  });
});

describe("fields of the request at a real origin", () => {
  it("carry who the client is by the socket, not by what it says", async () => {
    const forged = ["x-forwarded-for: 6.6.6.6", "cf-connecting-ip: 6.6.6.6", "forwarded: for=6.6.6.6"];
    await rawRequest(stack.gateway.port, "GET", `/orders/${ID}`, [...forged, "x-forwarded-for: 7.7.7.7"]);
    const [seen] = origins.recorded;
    expect(seen?.headers["x-forwarded-for"]).toBe("127.0.0.1");
    expect(seen?.headers["forwarded"]).toBeUndefined();
    expect(seen?.headers["via"]).toBe("1.1 waybill");
  });

  it("lose those of one connection", async () => {
    const fields = ["x-hop: 1", "proxy-authorization: Basic eA==", "keep-alive: timeout=5", "waybill-region: forged"];
    const bytes = [`GET /orders/${ID} HTTP/1.1`, "host: gw.test", "connection: close, X-Hop", ...fields, "", ""].join(
      "\r\n",
    );
    await sendRaw(stack.gateway.port, bytes);
    const headers = origins.recorded[0]?.headers ?? {};
    expect(headers["waybill-region"]).toBe("eu");
    for (const name of ["x-hop", "proxy-authorization"]) expect(headers).not.toHaveProperty(name);
  });

  it("offer no other protocol than WebSocket", async () => {
    const fields = ["connection: upgrade, http2-settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQAoAAAAAIAAAAA"];
    const bytes = [`GET /orders/${ID} HTTP/1.1`, "host: gw.test", ...fields, "connection: close", "", ""].join("\r\n");
    expect((await sendRaw(stack.gateway.port, bytes)).status).toBe(200);
    const headers = origins.recorded[0]?.headers ?? {};
    for (const name of ["upgrade", "http2-settings"]) expect(headers).not.toHaveProperty(name);
  });

  it("keep the length of a body, and the body of a GET", async () => {
    const fields = ["host: gw.test", "connection: close", "content-length: 5", "content-type: text/x"];
    for (const method of ["GET", "POST"]) {
      const bytes = [`${method} /orders/${ID} HTTP/1.1`, ...fields, "", "hello"].join("\r\n");
      expect((await sendRaw(stack.gateway.port, bytes)).status).toBe(200);
    }
    expect(origins.recorded.map(({ method, body, headers }) => [method, body, headers["content-length"]])).toEqual([
      ["GET", "hello", "5"],
      ["POST", "hello", "5"],
    ]);
  });

  it("come one by one when they are many", async () => {
    const many = Array.from({ length: 200 }, (_, index) => `x-field-${index}: ${index}`);
    await rawRequest(stack.gateway.port, "GET", `/orders/${ID}`, [...many, "x-twice: a", "x-twice: b", "__proto__: x"]);
    const headers = origins.recorded[0]?.headers ?? {};
    expect(headers["x-field-199"]).toBe("199");
    expect(headers["x-twice"]).toBe("a, b");
  });

  it("keep octets that are no text", async () => {
    await rawRequest(stack.gateway.port, "GET", `/orders/${ID}`, ["x-latin: caf\xe9", "x-utf8: caf\xc3\xa9"]);
    const headers = origins.recorded[0]?.headers ?? {};
    // Node shows bytes as Latin-1.
    expect([headers["x-latin"], headers["x-utf8"]]).toEqual(["caf\xe9", "caf\xc3\xa9"]);
    expect(headers["waybill-region"]).toBe("eu");
  });

  it("do not let an upgrade change the method", async () => {
    for (const method of ["PUT", "DELETE"]) {
      const fields = ["host: gw.test", "connection: upgrade", "upgrade: websocket", "content-length: 2"];
      await sendRaw(
        stack.gateway.port,
        [`${method} /orders/${ID} HTTP/1.1`, ...fields, "connection: close", "", "hi"].join("\r\n"),
      );
    }
    expect(origins.recorded.map(({ method, body }) => [method, body])).toEqual([
      ["PUT", "hi"],
      ["DELETE", "hi"],
    ]);
  });

  it("say how long the body of a GET is, or it is refused: the runtime would lose it", async () => {
    const fields = ["host: gw.test", "connection: close", "transfer-encoding: chunked"];
    const bytes = [`GET /orders/${ID} HTTP/1.1`, ...fields, "", "2", "hi", "0", "", ""].join("\r\n");
    const answer = await sendRaw(stack.gateway.port, bytes);
    expect([answer.status, JSON.parse(answer.body).type]).toEqual([400, "/-/problems/malformed-request"]);
    expect(origins.recorded).toEqual([]);
  });

  it("of a mint whose body is broken get a 400", async () => {
    const fields = ["host: gw.test", "connection: close", "transfer-encoding: chunked"];
    const answer = await sendRaw(stack.gateway.port, ["POST /mint HTTP/1.1", ...fields, "", "zz", "", ""].join("\r\n"));
    expect(answer.status).toBe(400);
  });
});

describe("an answer to HEAD with both a length and a transfer coding", () => {
  it("is an answer, and not a closed connection", async () => {
    const answer = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    const server = createServer((socket) => void socket.once("data", () => socket.end(answer)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const region = { origins: [{ url: `http://127.0.0.1:${port}` }] };
    const own = await startStack({ ...origins.declared, regions: { eu: region, us: region, ap: region } });
    const { status, head } = await rawRequest(own.gateway.port, "HEAD", `/orders/${ID}`);
    expect([status, /^content-length: 5$/im.test(head), /^transfer-encoding/im.test(head)]).toEqual([200, true, false]);
    await own.stop();
    server.close();
  });
});

describe("a setting that is wrong", () => {
  it("costs no request, and is named by /-/ready and once in the log", async () => {
    const own = await startStack(origins.declared, { TABLE_REFRESH_SECONDS: "soon" });
    const answers = [];
    for (const target of ["/-/health", "/-/ready", `/orders/${ID}`])
      answers.push(await rawRequest(own.gateway.port, "GET", target));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(JSON.parse(answers[1]?.body ?? "").invalidSettings).toEqual(["TABLE_REFRESH_SECONDS"]);
    expect(own.gateway.lines.filter((line) => line.includes("settings-invalid"))).toHaveLength(1);
    await own.stop();
  });
});
