import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

const CA = `[ca]
default_ca = it
[it]
database = index
serial = serial
new_certs_dir = .
policy = names
default_md = sha256
copy_extensions = copy
[names]
commonName = optional
`;

/**
 * A key and a certificate signed by itself, made for this run only.
 *
 * @param names as in `subjectAltName`: `DNS:cb.test`, `IP:127.0.0.1`
 * @param validity as `YYYYMMDDHHMMSSZ`; long, unless given
 * @returns undefined where there is no openssl
 */
export function makeCertificate(
  names: readonly string[],
  validity: readonly [from: string, to: string] = ["20200101000000Z", "20490101000000Z"],
): Certificate | undefined {
  if (Bun.which("openssl") === null) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "svc-tls-"));
  const openssl = (...args: string[]) => Bun.spawnSync(["openssl", ...args], { cwd: folder }).success;
  try {
    writeFileSync(join(folder, "ca.cnf"), CA);
    writeFileSync(join(folder, "index"), "");
    const subject = ["-subj", "/CN=test", "-addext", `subjectAltName=${names.join(",")}`];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    const [from, to] = validity;
    const isMade =
      openssl("req", "-new", ...kind, ...subject, "-keyout", "key.pem", "-out", "request.pem") &&
      openssl(
        ...["ca", "-batch", "-notext", "-config", "ca.cnf", "-selfsign", "-rand_serial"],
        ...["-startdate", from, "-enddate", to],
        ...["-keyfile", "key.pem", "-in", "request.pem", "-out", "cert.pem"],
      );
    if (!isMade) return undefined;
    return {
      key: readFileSync(join(folder, "key.pem"), "utf8"),
      cert: readFileSync(join(folder, "cert.pem"), "utf8"),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
