import { createHash, createHmac } from "node:crypto";

/** Where a bucket is, and with whose key it is asked. */
export interface BucketAccess {
  readonly url: string;
  readonly name: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

export interface BucketCall {
  readonly method: string;
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

const REGION = "us-east-1";

/** A request with AWS Signature Version 4, as workerd signs its own: conditions and ranges are not signed. */
export function ask({ url, name, accessKey, secretKey }: BucketAccess, call: BucketCall): Promise<Response> {
  const { method, key = "", query = {}, headers = {}, body = "" } = call;
  const target = new URL(`${url}/${name}/${key.split("/").map(encoded).join("/")}`);
  target.search = Object.keys(query)
    .sort()
    .map((field) => `${encoded(field)}=${encoded(query[field] ?? "")}`)
    .join("&");
  const date = `${new Date().toISOString().replace(/[-:]|\.\d+/g, "")}`;
  const digest = sha256(body);
  const signed = { host: target.host, "x-amz-content-sha256": digest, "x-amz-date": date };
  const names = Object.keys(signed).join(";");
  const lines = Object.entries(signed).map(([field, value]) => `${field}:${value}\n`);
  const canonical = [method, target.pathname, target.search.slice(1), lines.join(""), names, digest].join("\n");
  const scope = `${date.slice(0, 8)}/${REGION}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", date, scope, sha256(canonical)].join("\n");
  const signing = scope.split("/").reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${secretKey}`);
  const signature = hmac(signing, text).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKey}/${scope},SignedHeaders=${names},Signature=${signature}`;
  const { host: _, ...sent } = signed;
  const content = body.length === 0 ? {} : { body: Buffer.from(body) };
  return fetch(target, { method, headers: { ...headers, ...sent, authorization }, ...content });
}

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

const hmac = (secret: string | Buffer, text: string): Buffer => createHmac("sha256", secret).update(text).digest();
