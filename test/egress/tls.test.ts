import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collect, localEgress, NEVER, scriptedResolver } from "./servers.ts";

/** A key and a certificate for `cb.test`, signed by itself, made for this run only. */
function makeCertificate(): { key: string; cert: string } | undefined {
  if (Bun.which("openssl") === null) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "svc-tls-"));
  try {
    const subject = ["-subj", "/CN=cb.test", "-addext", "subjectAltName=DNS:cb.test"];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    const made = Bun.spawnSync(
      ["openssl", "req", "-x509", ...kind, ...subject, "-keyout", "key.pem", "-out", "cert.pem"],
      {
        cwd: folder,
      },
    );
    if (!made.success) return undefined;
    return {
      key: readFileSync(join(folder, "key.pem"), "utf8"),
      cert: readFileSync(join(folder, "cert.pem"), "utf8"),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const certificate = makeCertificate();
if (certificate === undefined) console.warn("Skipped: tests of TLS need openssl.");
const secure = test.skipIf(certificate === undefined);

let server: Bun.Server<undefined>;
const hosts: (string | null)[] = [];
beforeAll(() => {
  if (certificate === undefined) return;
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: certificate,
    fetch: (request) => {
      hosts.push(request.headers.get("host"));
      return new Response("secret");
    },
  });
});
afterAll(() => server?.stop(true));

const { resolve } = scriptedResolver({
  "cb.test": [["127.0.0.1"]],
  "cb.test.": [["127.0.0.1"]],
  "other.test": [["127.0.0.1"]],
});
const url = (host: string) => `https://${host}:${server.port}/hook`;

secure("the certificate is checked against the name, though the connection goes to an address", async () => {
  const egress = localEgress({ resolve, ca: certificate?.cert });
  expect(await egress.deliver(url("cb.test"), "{}", NEVER)).toEqual({ kind: "delivered", status: 200 });
  expect(await egress.deliver(url("cb.test."), "{}", NEVER)).toEqual({ kind: "delivered", status: 200 });
  expect(hosts).toEqual([`cb.test:${server.port}`, `cb.test.:${server.port}`]);
  const source = await egress.fetchMedia(url("cb.test"), { maxBytes: 100, signal: NEVER });
  expect((await collect(source)).toString()).toBe("secret");
});

secure("a certificate for another name, or for no address, is refused", async () => {
  const egress = localEgress({ resolve, ca: certificate?.cert });
  hosts.length = 0;
  const wrongName = { kind: "unreachable", reason: "ERR_TLS_CERT_ALTNAME_INVALID" } as const;
  expect(await egress.deliver(url("other.test"), "{}", NEVER)).toEqual(wrongName);
  expect(await egress.deliver(url("127.0.0.1"), "{}", NEVER)).toEqual(wrongName);
  expect(hosts).toEqual([]);
});

secure("a certificate nobody vouches for is refused, whatever the environment says", async () => {
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  try {
    hosts.length = 0;
    expect((await localEgress({ resolve }).deliver(url("cb.test"), "{}", NEVER)).kind).toBe("unreachable");
    expect(hosts).toEqual([]);
  } finally {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
  }
});
