import { list, quoted } from "./config-text.ts";

/** The certificate of state nodes is for this name, whatever their addresses are. */
export const STATE_NAME = "state.waybill";

/** A CONNECT to it opens an RPC session instead of a tunnel. */
export const RPC_HOST = `${STATE_NAME}:1`;

/** Names of the three where `--state-tls` points. */
export const TLS_FILES = { ca: "ca.pem", certificate: "cert.pem", key: "key.pem" } as const;

/** Texts of `--state-tls`, as workerd gets them. */
export interface TlsTexts {
  /** Certificates of the authorities that are trusted. */
  readonly authorities: readonly string[];
  /** The machine's own, and the ones between it and an authority. */
  readonly certificate: string;
  readonly key: string;
}

/** Both sides prove themselves. The texts are in the configuration, so that each start of a process has one whole set. */
export const keypair = ({ key, certificate }: TlsTexts): string =>
  `keypair = (privateKey = ${quoted(key)}, ${CHAIN} = ${quoted(certificate)})`;

const CHAIN = "certificateChain";

/** No other authority is trusted. The texts of their certificates are the same on all machines. */
export const trusted = ({ authorities }: TlsTexts): string => `trustedCertificates = ${list(authorities)}`;

/** The certificate in the configuration of an edge or a state node. */
export function certificateIn(config: string): string | undefined {
  const literal = new RegExp(`${CHAIN} = "((?:[^"\\\\]|\\\\.)*)"`).exec(config)?.[1];
  return literal?.replaceAll("\\x0d", "\r").replaceAll("\\x0a", "\n");
}
