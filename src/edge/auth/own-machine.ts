/** A name that stands for the loopback address whoever asks (RFC 6761 §6.3), or an address itself; with a port or without. */
const OWN_MACHINE = /^(?:(?:[a-z0-9-]+\.)*localhost\.?|\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Whether a host cannot be somebody else's name for this machine. A page of any site may have its own name resolved to the
 * loopback address once it is loaded (DNS rebinding): to the browser, requests to that name are then the page's own, with answers that it
 * may read and an `origin` that is the host's. Only `host` still tells whose name it is.
 */
export const isOwnMachine = (host: string): boolean => OWN_MACHINE.test(host);

/** The `host` field; of a request that was made without one, what its URL says. */
export const hostOf = ({ headers, url }: Request): string => headers.get("host") ?? URL.parse(url)?.host ?? "";
