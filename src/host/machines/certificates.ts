import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../../ids/index.ts";
import { STATE_NAME, TLS_FILES } from "../workerd/tls-text.ts";

/** Folders of an authority and of the roles, with the name that each certificate is for. */
export const CERTIFICATE_FOLDERS = { state: STATE_NAME, edge: "edge.waybill" } as const;

const AUTHORITY_FOLDER = "ca";
const AUTHORITY_DAYS = 3_650;

/** By elliptic curves: small, fast, and taken by every TLS 1.3. */
const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/**
 * Makes certificates for the traffic between edges and state nodes. An authority that is there signs again, so that machines can
 * be renewed one by one. Gives whether it was there.
 */
export function makeCertificates(folder: string, days: number): Result<{ readonly isRenewal: boolean }, string> {
  const authority = join(folder, AUTHORITY_FOLDER);
  const isRenewal = existsSync(join(authority, TLS_FILES.key));
  if (!isRenewal && existsSync(authority))
    return err(`${authority} has no ${TLS_FILES.key}: name another folder with --out`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Each folder comes whole, or stays as it was.
  const work = mkdtempSync(join(folder, "unfinished."));
  try {
    const ca = isRenewal ? authority : makeAuthority(work);
    for (const [name, host] of Object.entries(CERTIFICATE_FOLDERS)) makeOne(join(work, name), host, ca, days);
    const made = [...(isRenewal ? [] : [AUTHORITY_FOLDER]), ...Object.keys(CERTIFICATE_FOLDERS)];
    for (const name of made) {
      rmSync(join(folder, name), { recursive: true, force: true });
      renameSync(join(work, name), join(folder, name));
    }
    return ok({ isRenewal });
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function makeAuthority(work: string): string {
  const folder = join(work, AUTHORITY_FOLDER);
  mkdirSync(folder, { mode: 0o700 });
  const config = join(work, "authority.cnf");
  writeFileSync(
    config,
    `[req]
distinguished_name = name
x509_extensions = authority
prompt = no
[name]
CN = Waybill machines
[authority]
basicConstraints = critical, CA:TRUE, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
`,
  );
  const files = ["-keyout", join(folder, TLS_FILES.key), "-out", join(folder, TLS_FILES.ca)];
  openssl(["req", "-x509", ...KEY, "-config", config, "-days", String(AUTHORITY_DAYS), ...files]);
  chmodSync(join(folder, TLS_FILES.key), 0o600);
  return folder;
}

function makeOne(folder: string, host: string, authority: string, days: number): void {
  mkdirSync(folder, { mode: 0o700 });
  const request = `${folder}.csr`;
  const config = `${folder}.cnf`;
  writeFileSync(
    config,
    `[req]
distinguished_name = name
prompt = no
[name]
CN = ${host}
[machine]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectAltName = DNS:${host}
`,
  );
  const certificate = join(folder, TLS_FILES.certificate);
  openssl(["req", ...KEY, "-config", config, "-keyout", join(folder, TLS_FILES.key), "-out", request]);
  const signer = ["-CA", join(authority, TLS_FILES.ca), "-CAkey", join(authority, TLS_FILES.key), "-CAcreateserial"];
  const serial = ["-CAserial", `${folder}.srl`];
  const extensions = ["-extfile", config, "-extensions", "machine"];
  openssl([
    "x509",
    "-req",
    "-in",
    request,
    ...signer,
    ...serial,
    "-days",
    String(days),
    ...extensions,
    "-out",
    certificate,
  ]);
  chmodSync(join(folder, TLS_FILES.key), 0o600);
  copyFileSync(join(authority, TLS_FILES.ca), join(folder, TLS_FILES.ca));
}

function openssl(args: readonly string[]): void {
  const { status, error, stderr } = spawnSync("openssl", args, { encoding: "utf8", windowsHide: true });
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ENOENT")
    throw new Error("openssl is not installed: apt-get install openssl, apk add openssl or brew install openssl");
  if (status !== 0) throw new Error(`openssl ${args[0]} failed: ${error?.message ?? stderr.trim()}`);
}
