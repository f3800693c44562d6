import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Certificate, makeCertificate } from "./certificates.ts";
import { collect, localEgress, NEVER, scriptedResolver } from "./servers.ts";

const certificate = makeCertificate(["DNS:cb.test"]);
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
const POST = { body: "{}" };
const address = "127.0.0.1";
const delivered = { kind: "delivered", status: 200, address, excerpt: "secret" } as const;
const wrongName = { kind: "unreachable", reason: "ERR_TLS_CERT_ALTNAME_INVALID", address } as const;
const url = (host: string) => `https://${host}:${server.port}/hook`;

secure("the certificate is checked against the name, though the connection goes to an address", async () => {
  const egress = localEgress({ resolve, ca: certificate?.cert });
  expect(await egress.deliver(url("cb.test"), POST, NEVER)).toEqual(delivered);
  expect(await egress.deliver(url("cb.test."), POST, NEVER)).toEqual(delivered);
  expect(hosts).toEqual([`cb.test:${server.port}`, `cb.test.:${server.port}`]);
  const source = await egress.fetchMedia(url("cb.test"), { maxBytes: 100, signal: NEVER });
  expect((await collect(source)).toString()).toBe("secret");
});

secure("a certificate for another name, or for no address, is refused", async () => {
  const egress = localEgress({ resolve, ca: certificate?.cert });
  hosts.length = 0;
  expect(await egress.deliver(url("other.test"), POST, NEVER)).toEqual(wrongName);
  expect(await egress.deliver(url("127.0.0.1"), POST, NEVER)).toEqual(wrongName);
  expect(hosts).toEqual([]);
});

secure("a certificate nobody vouches for is refused, whatever the environment says", async () => {
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  try {
    hosts.length = 0;
    expect((await localEgress({ resolve }).deliver(url("cb.test"), POST, NEVER)).kind).toBe("unreachable");
    expect(hosts).toEqual([]);
  } finally {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
  }
});

/** Whether a receiver with this certificate, which the service trusts, is told anything at an address given as such. */
async function tellsAddress(own: Certificate | undefined, host: string) {
  let count = 0;
  const hostname = host.replace(/^\[|\]$/g, "");
  using receiver = Bun.serve({
    hostname,
    port: 0,
    tls: own ?? {},
    fetch: () => {
      count += 1;
      return new Response("secret");
    },
  });
  const egress = localEgress({ allow: ["127.0.0.1/32", "::1/128"], ca: own?.cert });
  const delivery = await egress.deliver(`https://${host}:${receiver.port}/`, POST, NEVER);
  expect(count).toBe(delivery.kind === "delivered" ? 1 : 0);
  return delivery;
}

secure("an address in the URL needs a certificate that holds this address", async () => {
  expect(await tellsAddress(makeCertificate(["IP:127.0.0.1"]), "127.0.0.1")).toEqual(delivered);
  expect(await tellsAddress(makeCertificate(["DNS:a.test", "IP:::1"]), "[::1]")).toEqual({
    ...delivered,
    address: "::1",
  });
  for (const names of [["IP:127.0.0.2"], ["DNS:127.0.0.1"], ["DNS:*.0.0.1"], ["IP:::ffff:127.0.0.1"]]) {
    expect(await tellsAddress(makeCertificate(names), "127.0.0.1")).toEqual(wrongName);
  }
  expect(await tellsAddress(makeCertificate(["IP:::2"]), "[::1]")).toEqual({ ...wrongName, address: "::1" });
});

secure("a certificate whose time is over, or has not come, is refused", async () => {
  const names = ["IP:127.0.0.1"];
  const past = makeCertificate(names, ["20200101000000Z", "20200102000000Z"]);
  const future = makeCertificate(names, ["20480101000000Z", "20490101000000Z"]);
  expect(await tellsAddress(past, "127.0.0.1")).toMatchObject({ reason: "CERT_HAS_EXPIRED" });
  expect(await tellsAddress(future, "127.0.0.1")).toMatchObject({ reason: "CERT_NOT_YET_VALID" });
});
