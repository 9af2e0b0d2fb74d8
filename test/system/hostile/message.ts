/** HTTP/1.1 messages on the wire, read strictly (RFC 9112), so that nothing is forgiven on either side. One character is one byte. */

export type Field = readonly [name: string, value: string];

export interface Message {
  /** Status line or request line. */
  readonly startLine: string;
  /** Names in lower case. */
  readonly fields: readonly Field[];
  readonly body: string;
}

/**
 * `whole`: it ended as its framing says, at `end`. `partial`: bytes are missing, `message` is what is there, and `wanted` is
 * how many it has at least.
 * `until-close`: only the end of the connection ends it. `malformed`: it is no HTTP/1.1 message.
 */
export type Reading =
  | { readonly state: "whole"; readonly message: Message; readonly end: number }
  | { readonly state: "partial"; readonly message: Message | undefined; readonly wanted: number }
  | { readonly state: "until-close"; readonly message: Message }
  | { readonly state: "malformed"; readonly why: string };

/** A head's rule on its body beside its own framing: an answer to HEAD has none, a request without framing neither. */
export type BodyRule = (startLine: string) => "none" | "framed" | "until-close";

export const requestBody: BodyRule = () => "framed";

/** RFC 9112 §6.3. After a 101 the bytes are those of another protocol. */
export const answerBody =
  (method: string): BodyRule =>
  (startLine) => {
    const status = Number(startLine.split(" ")[1]);
    if (status === 101) return "until-close";
    return method === "HEAD" || status < 200 || status === 204 || status === 304 ? "none" : "framed";
  };

export const fieldOf = ({ fields }: Message, name: string): string | undefined =>
  fields.find(([field]) => field === name)?.[1];

export const fieldsOf = ({ fields }: Message, name: string): readonly string[] =>
  fields.filter(([field]) => field === name).map(([, value]) => value);

/** The first message in the bytes. */
export function readMessage(bytes: string, rule: BodyRule): Reading {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return { state: "partial", message: undefined, wanted: bytes.length + 1 };
  const [startLine = "", ...lines] = bytes.slice(0, headEnd).split("\r\n");
  const fields: Field[] = [];
  for (const line of lines) {
    const [, name, value] = FIELD_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return malformed(`the line ${JSON.stringify(line)}`);
    fields.push([name.toLowerCase(), value]);
  }
  const bodyStart = headEnd + 4;
  const kind = rule(startLine);
  const head = { startLine, fields };
  if (kind === "none") return whole({ ...head, body: "" }, bodyStart);
  if (kind === "until-close") return { state: "until-close", message: { ...head, body: bytes.slice(bodyStart) } };
  return readBody(bytes, bodyStart, { ...head, body: "" });
}

/** No control characters, no space before the colon, no folded lines (RFC 9112 §5). */
const FIELD_LINE =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?)[ \t]*$/;

function readBody(bytes: string, start: number, head: Message): Reading {
  const lengths = fieldsOf(head, "content-length");
  const codings = fieldsOf(head, "transfer-encoding");
  if (lengths.length + codings.length > 1) return malformed("more than one framing");
  const [length] = lengths;
  const [coding] = codings;
  if (coding !== undefined)
    return coding === "chunked" ? readChunks(bytes, start, head) : malformed(`coding ${coding}`);
  if (length === undefined) {
    const isAnswer = head.startLine.startsWith("HTTP/");
    return isAnswer ? { state: "until-close", message: { ...head, body: bytes.slice(start) } } : whole(head, start);
  }
  if (!/^\d{1,15}$/.test(length)) return malformed(`a length of ${length}`);
  const end = start + Number(length);
  const message = { ...head, body: bytes.slice(start, end) };
  return bytes.length < end ? { state: "partial", message, wanted: end } : whole(message, end);
}

/** Without extensions and trailers: the gateway's runtime makes none. */
function readChunks(bytes: string, start: number, head: Message): Reading {
  let body = "";
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return { state: "partial", message: { ...head, body }, wanted: bytes.length + 1 };
    const line = bytes.slice(at, lineEnd);
    if (!/^[0-9a-f]{1,12}$/i.test(line)) return malformed(`a chunk of size ${JSON.stringify(line)}`);
    const size = Number.parseInt(line, 16);
    const dataEnd = lineEnd + 2 + size;
    body += bytes.slice(lineEnd + 2, dataEnd);
    if (bytes.length < dataEnd + 2) return { state: "partial", message: { ...head, body }, wanted: dataEnd + 2 };
    if (bytes.slice(dataEnd, dataEnd + 2) !== "\r\n") return malformed("a chunk that does not end where it should");
    if (size === 0) return whole({ ...head, body }, dataEnd + 2);
    at = dataEnd + 2;
  }
}

const malformed = (why: string): Reading => ({ state: "malformed", why });
const whole = (message: Message, end: number): Reading => ({ state: "whole", message, end });
