import { createPrivateKey, X509Certificate } from "node:crypto";
import { constants, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { getSystemErrorMap } from "node:util";
import { STATE_NAME, TLS_FILES, type TlsTexts } from "../workerd/tls-text.ts";
import { CREDENTIALS_FILE, type Role } from "./members.ts";
import type { MachineOptions } from "./options.ts";

/** Sentences on files that an operator names: faults stop a start, warnings and notes do not. */
export interface FileCheck {
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  readonly tls?: TlsTexts | undefined;
  readonly clusterKey?: string | undefined;
}

/** `waybill config check` of a machine: all that can be known before it starts. Asks no other machine. */
export function checkMachine(options: MachineOptions, nowMs: number): Pick<FileCheck, "faults" | "notes"> {
  const { faults, ...files } = checkFiles(options, nowMs);
  const notes = [...files.warnings, ...files.notes];
  if (options.role === "edge" || options.cluster === undefined) return { faults, notes };
  const isWatched = options.cluster.peers.length > 0;
  return { faults, notes: [...notes, NTP, ...(isWatched ? [] : [NO_WATCHDOG])] };
}

const NTP =
  "a node serves only while its clock is within 2 seconds or so of the bucket's: run NTP (timedatectl shows whether it is on)";

const NO_WATCHDOG =
  "without peers there is no watchdog: a node that is cut off from the others, but not from the bucket, keeps its objects";

/** A renewal by hand is planned within a month, and done two weeks before the end. */
const SOON_DAYS = 30;
const URGENT_DAYS = 14;
const DAY_MS = 86_400_000;
const KEY_BYTES_MIN = 32;

/** Reads the files of a machine and checks them before anything starts. */
export function checkFiles(options: MachineOptions, nowMs: number): FileCheck {
  const { tls, ...sentences } = checkTls(options, nowMs);
  if (options.role === "edge" || options.cluster === undefined) return { ...sentences, tls };
  const faults = [...sentences.faults];
  const { keyFile, bucketOptions } = options.cluster;
  const clusterKey = secretText(keyFile, faults)?.trim();
  if (clusterKey !== undefined && Buffer.byteLength(clusterKey) < KEY_BYTES_MIN)
    faults.push(
      `${keyFile} holds ${Buffer.byteLength(clusterKey)} bytes, and a key has at least ${KEY_BYTES_MIN}: openssl rand -hex 32`,
    );
  const prefix = `${CREDENTIALS_FILE}=`;
  const credentials = bucketOptions.find((option) => option.startsWith(prefix))?.slice(prefix.length);
  if (credentials !== undefined) secretText(credentials, faults);
  return { ...sentences, faults, tls, clusterKey };
}

/** `undefined`: it cannot be read. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

interface TlsOptions {
  readonly tlsFolder: string;
  readonly role: Role;
}

/** The part of the certificates, which each start of workerd reads. */
export function checkTls({ tlsFolder: folder, role }: TlsOptions, nowMs: number): Omit<FileCheck, "clusterKey"> {
  const [faults, warnings, notes]: [string[], string[], string[]] = [[], [], []];
  const paths = Object.values(TLS_FILES).map((name) => join(folder, name)) as [string, string, string];
  const [caPath, certificatePath, keyPath] = paths;
  const ca = textAt(caPath, faults);
  const certificate = textAt(certificatePath, faults);
  const key = secretText(keyPath, faults);
  if (ca === undefined || certificate === undefined || key === undefined) return { faults, warnings, notes };
  const authorities = certificatesIn(ca, caPath, faults);
  const chain = certificatesIn(certificate, certificatePath, faults);
  const [own] = chain;
  if (own === undefined || authorities.length === 0) return { faults, warnings, notes };
  try {
    if (!own.checkPrivateKey(createPrivateKey(key))) faults.push(`${keyPath} is not the key of ${certificatePath}`);
  } catch {
    faults.push(`${keyPath} holds no private key in PEM form without a password`);
  }
  if (!isTrusted(chain, authorities))
    faults.push(
      `${certificatePath} comes from another authority than ${caPath}: make both by one \`waybill cluster certificates --out FOLDER\``,
    );
  if (role === "state" && own.checkHost(STATE_NAME) === undefined)
    faults.push(`${certificatePath} is not for the name ${STATE_NAME}: an edge refuses it`);
  if (role === "edge" && own.checkHost(STATE_NAME) !== undefined)
    notes.push(
      `${certificatePath} is for the name ${STATE_NAME}: who has this edge's key can pose as a state node to all others; use the folder of an edge`,
    );
  const dated: readonly (readonly [string, X509Certificate])[] = [
    ...chain.map((each) => [certificatePath, each] as const),
    ...authorities.map((each) => [caPath, each] as const),
  ];
  for (const [path, each] of dated) {
    const { state, text, remedy } = datesOf(each, nowMs);
    if (state !== "ok") ({ error: faults, warning: warnings, note: notes })[state].push(`${path} ${text}: ${remedy}`);
  }
  return { faults, warnings, notes, tls: { authorities: authorities.map(String), certificate, key } };
}

interface Dates {
  readonly state: "ok" | "note" | "warning" | "error";
  /** It follows the place of a certificate. */
  readonly text: string;
  readonly remedy: string;
}

export function datesOf(certificate: X509Certificate, nowMs: number): Dates {
  const fromMs = Date.parse(certificate.validFrom);
  const toMs = Date.parse(certificate.validTo);
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const remedy = "renew it";
  if (nowMs >= toMs) return { state: "error", text: `ended on ${day(toMs)}`, remedy };
  if (nowMs < fromMs)
    return { state: "error", text: `begins on ${day(fromMs)}`, remedy: "correct the clock, or make it anew" };
  const days = Math.floor((toMs - nowMs) / DAY_MS);
  const state = days < URGENT_DAYS ? "warning" : days < SOON_DAYS ? "note" : "ok";
  return { state, text: `ends in ${days} days, on ${day(toMs)}`, remedy };
}

/** Each certificate is signed by the next, and the last one by an authority. */
function isTrusted(chain: readonly X509Certificate[], authorities: readonly X509Certificate[]): boolean {
  return chain.every((each, at) => {
    const next = chain[at + 1];
    const issuers = next === undefined ? authorities : [next, ...authorities];
    return issuers.some((issuer) => each.checkIssued(issuer) && each.verify(issuer.publicKey));
  });
}

function certificatesIn(pem: string, path: string, faults: string[]): readonly X509Certificate[] {
  try {
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
    if (blocks.length === 0) throw new Error("none");
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    faults.push(`${path} holds no certificate in PEM form`);
    return [];
  }
}

function textAt(path: string, faults: string[]): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { errno, message } = error as NodeJS.ErrnoException;
    faults.push(
      `${path} cannot be read: ${(errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]) ?? message}`,
    );
    return undefined;
  }
}

/** A group may read them: Kubernetes hands secrets to a group. */
const FOR_OTHERS = constants.S_IRWXO;

function secretText(path: string, faults: string[]): string | undefined {
  const text = textAt(path, faults);
  if (text !== undefined && process.platform !== "win32" && (statSync(path).mode & FOR_OTHERS) !== 0)
    faults.push(`${path} is a secret that every user of this machine may read: chmod 600 ${path}`);
  return text;
}
