/**
 * What a request for a public entity must ask of an origin, so that the answer can be turned: the whole of it, uncoded.
 * Changes fields whose names are in lower case.
 */
export function requestIdentityEncoding(fields: Record<string, string>): void {
  // RFC 9110 §12.5.3: without the field any coding is welcome, so leaving it out would not do.
  fields["accept-encoding"] = "identity";
  // RFC 9110 §14.2: a server may ignore a range; a part of a JSON text cannot be read.
  delete fields["range"];
  delete fields["if-range"];
  // Clients know the origin's strong tags as weak ones, and `if-match` compares strongly (RFC 9110 §13.1.1). A tag that
  // the origin itself made weak does not match either way.
  const condition = fields["if-match"];
  if (condition !== undefined) fields["if-match"] = condition.replaceAll(/(?:W\/)?("[^"]*")/g, "$1");
}
