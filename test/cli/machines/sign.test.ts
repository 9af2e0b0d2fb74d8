import { describe, expect, it } from "vitest";
import { encodePart, signedFields, type UnsignedRequest } from "../../../src/host/machines/operate/sign.ts";

/** Examples of "Authenticating Requests: Using the Authorization Header" of Amazon S3's API reference. */
const CREDENTIALS = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};
const AT_MS = Date.UTC(2013, 4, 24);
const HOST = "https://examplebucket.s3.amazonaws.com";

describe("a request with AWS Signature Version 4", () => {
  it.each<readonly [what: string, request: Omit<UnsignedRequest, "url">, path: string, signature: string]>([
    [
      "a range of an object",
      { method: "GET", fields: { range: "bytes=0-9" } },
      "/test.txt",
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    ],
    [
      "an object with a character that is encoded",
      {
        method: "PUT",
        fields: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
        body: "Welcome to Amazon S3.",
      },
      "/test%24file.text",
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    ],
    [
      "a query without a value",
      { method: "GET" },
      "/?lifecycle",
      "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    ],
    [
      "a list",
      { method: "GET" },
      "/?max-keys=2&prefix=J",
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
    ],
  ])("signs %s", (_, request, path, signature) => {
    const fields = signedFields({ ...request, url: new URL(HOST + path) }, CREDENTIALS, "us-east-1", AT_MS);
    expect(fields["x-amz-date"]).toBe("20130524T000000Z");
    expect(fields["authorization"]).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/20130524\/us-east-1\/s3\/aws4_request,SignedHeaders=[a-z0-9;-]+,Signature=/,
    );
    expect(fields["authorization"]?.split("Signature=")[1]).toBe(signature);
  });

  it("signs the token of a session, and names no secret", () => {
    const url = new URL(`${HOST}/a`);
    const session = { ...CREDENTIALS, sessionToken: "a-token" };
    const fields = signedFields({ method: "GET", url }, session, "us-east-1", AT_MS);
    expect(fields).toMatchObject({ "x-amz-security-token": "a-token" });
    expect(fields["authorization"]).toContain("x-amz-date;x-amz-security-token,");
    expect(JSON.stringify(fields)).not.toContain(CREDENTIALS.secretAccessKey);
  });

  it("encodes what a browser leaves", () => {
    expect(encodePart("a b!'()*/~")).toBe("a%20b%21%27%28%29%2A%2F~");
  });
});
