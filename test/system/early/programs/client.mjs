import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

/** Clients of npm. Arguments: name, method, URL, bytes, pieces, pause. They are found from the folder where they were installed. */
const [name, method, url, ...numbers] = process.argv.slice(2);
const [bytes, pieces, pauseMs] = numbers.map(Number);

async function* slowly() {
  for (let piece = 0; piece < pieces; piece++) {
    yield Buffer.alloc(bytes / pieces, "x");
    await delay(pauseMs);
  }
}
const stream = () => (bytes === 0 ? undefined : Readable.from(slowly()));
const webStream = () => (bytes === 0 ? {} : { body: ReadableStream.from(slowly()), duplex: "half" });

const CLIENTS = {
  async undici() {
    const { request } = await import("undici");
    const fields = bytes === 0 ? {} : { body: stream(), headers: { "content-length": String(bytes) } };
    const { statusCode, body } = await request(url, { method, ...fields });
    return [statusCode, await body.text()];
  },
  async fetch() {
    const response = await fetch(url, { method, redirect: "manual", ...webStream() });
    return [response.status, await response.text()];
  },
  async got() {
    const { default: got } = await import("got");
    const options = { method, throwHttpErrors: false, followRedirect: false, retry: { limit: 0 } };
    const { statusCode, body } = await got(url, bytes === 0 ? options : { ...options, body: stream() });
    return [statusCode, body];
  },
  async ky() {
    const { default: ky } = await import("ky");
    const response = await ky(url, { method, throwHttpErrors: false, redirect: "manual", retry: 0, ...webStream() });
    return [response.status, await response.text()];
  },
};

const [status, text] = await CLIENTS[name]();
console.log(`${status} ${text}`);
process.exit(0);
