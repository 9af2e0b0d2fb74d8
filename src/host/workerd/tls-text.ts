import { list } from "./config-text.ts";

/** The certificate of state nodes is for this name, whatever their addresses are. */
export const STATE_NAME = "state.waybill";

/** A CONNECT to it opens an RPC session instead of a tunnel. */
export const RPC_HOST = `${STATE_NAME}:1`;

/** Beside the configuration: copies of the certificate and its key. */
export const TLS_FOLDER = "tls";

/** Names of the three, there and where `--state-tls` points. */
export const TLS_FILES = { ca: "ca.pem", certificate: "cert.pem", key: "key.pem" } as const;

const file = (name: string): string => `embed "${TLS_FOLDER}/${name}"`;

/** Both sides prove themselves. */
export const keypair = `keypair = (privateKey = ${file(TLS_FILES.key)}, certificateChain = ${file(TLS_FILES.certificate)})`;

/** No other authority is trusted. The texts of their certificates are the same on all machines. */
export const trusted = (authorities: readonly string[]): string => `trustedCertificates = ${list(authorities)}`;
