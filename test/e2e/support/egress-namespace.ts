/*
 * A network of its own: a service, a name server, and across a wire one receiver that has every other address there is, public
 * or not. Run in new network and mount namespaces, by root; tells what happened as one line of JSON.
 */
import { existsSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Answer, startDns } from "../../egress/dns-server.ts";
import { emptyFolder, startServer, stopServers } from "../../helpers/server.ts";
import { readDatabase } from "./database.ts";
import { recordPackets } from "./egress-packets.ts";

const PUBLIC_V4 = "93.184.216.34";
const PUBLIC_V6 = "2606:2800:220:1::1";
const OWN_V4 = "93.184.216.1";
const OWN_V6 = "2606:2800:220:1::ffff";
const NAME_SERVER = "127.0.0.53";
/** Addresses that are there, answer, and must never be asked: this machine's own and the receiver's. */
export const INSIDE = [
  ...["127.0.0.1", "127.0.0.2", "0.0.0.0", OWN_V4, "::1", OWN_V6, "::ffff:127.0.0.1"],
  ...["10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "168.63.129.16"],
  ...["198.18.0.1", "203.0.113.7", "fd00:ec2::254", "fe80::a9fe:a9fe", "2001:db8::1", "64:ff9b::a00:1"],
  ...["2002:a00:1::1", "2001::1", "::ffff:10.0.0.1", "100::1"],
];
const LITERALS = [
  ...["http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/"],
  ...["http://１２７.0.0.1/", "http://%31%32%37.0.0.1/", "http://127.0.0.1./", "http://LOCALHOST./"],
  ...["http://10.0.0.1/", "http://169.254.169.254/", "http://192.168.0.1/", "http://100.64.0.1/"],
  ...[`http://${OWN_V4}/`, `http://[${OWN_V6}]/`, "http://[fd00:ec2::254]/", "http://[::ffff:10.0.0.1]/"],
  ...["http://[64:ff9b::10.0.0.1]/", "http://[2002:a00:1::1]/", "http://[2001::1]/", "http://[::1]/"],
];
const SILENT = Array.from({ length: 8 }, (_, index) => `silent${index}.test`);
const PATIENCE_MS = 10_000;
const TASK = { model: "sandbox-image", prompt: "x", size: "16x16", sandbox: { delay_ms: 0 } };

/** What happened, for the test to judge. */
export interface NamespaceReport {
  readonly literals: readonly { readonly url: string; readonly status: number }[];
  readonly attempts: readonly {
    readonly host: string;
    readonly outcome: string | null;
    readonly status: number | null;
    readonly reason: string | null;
    readonly address: string | null;
  }[];
  /** From the create to the end of a callback, while others' names are not answered for. */
  readonly deliveredMs: number;
  readonly received: readonly { readonly host: string; readonly from: string }[];
  readonly queries: readonly string[];
  readonly packets: Readonly<Record<string, number>>;
}

if (import.meta.main) {
  const report = await run();
  process.stdout.write(`${JSON.stringify(report)}\n`);
  process.exit(0);
}

async function run(): Promise<NamespaceReport> {
  const folder = emptyFolder("etc");
  writeFileSync(join(folder, "resolv.conf"), `nameserver ${NAME_SERVER}\n`);
  writeFileSync(join(folder, "hosts"), "127.0.0.1 localhost\n10.0.0.1 in-the-hosts-file.test\n");
  for (const file of ["resolv.conf", "hosts"]) command("mount", "--bind", join(folder, file), `/etc/${file}`);
  command("ip", "link", "set", "lo", "up");
  const receiver = await startReceiver();
  const packets = recordPackets();
  await using dns = await startDns(script(), { hostname: NAME_SERVER, port: 53 });
  const server = await startServer({ args: ["--callbacks-delays-seconds", "1"] });
  const post = async (kind: string, body: object) => {
    const response = await fetch(`${server.url}/v1/${kind}s/generations`, {
      method: "POST",
      headers: { Authorization: `Bearer ${server.firstKey()}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const create = (url: string) => post("image", { ...TASK, callback_url: url });
  const literals: { url: string; status: number }[] = [];
  for (const url of LITERALS) literals.push({ url, status: await create(url) });
  const attempts = () =>
    readDatabase<NamespaceReport["attempts"][number]>(
      server.dataDir,
      `SELECT host, outcome, http_status AS status, reason, address
       FROM callback_attempt JOIN callback ON callback.id = callback_id ORDER BY callback.id, sequence`,
    );
  const ended = (count: number) =>
    until(() => {
      const outcomes = attempts().filter(({ host, outcome }) => outcome !== null && !SILENT.includes(host));
      return outcomes.length >= count;
    });
  for (const host of SILENT) await create(`http://${host}/`);
  await until(() => SILENT.every((host) => dns.queries.includes(`A ${host}`)));
  const startedAt = performance.now();
  await create("http://public4.test/hook");
  await ended(1);
  const deliveredMs = performance.now() - startedAt;
  const others = Object.keys(script()).filter((host) => !SILENT.includes(host) && host !== "public4.test");
  for (const host of [...others, "in-the-hosts-file.test"]) await create(`http://${host}/`);
  const inside = INSIDE.map((_, index) => `only${index}.test`);
  for (const host of inside) {
    const image_url = `https://${host}/a.png`;
    await post("video", { model: "sandbox-video", prompt: "x", duration: 1, image_url });
  }
  // Once for the callback, once for the picture.
  const askedTwice = (host: string) => dns.queries.filter((query) => query === `AAAA ${host}`).length >= 2;
  await until(() => inside.every(askedTwice));
  // One of the callbacks comes again.
  await ended(others.length + 3);
  const report = {
    literals,
    attempts: attempts(),
    deliveredMs,
    received: receiver.lines(),
    queries: dns.queries,
    packets: packets.counts(),
  };
  packets.stop();
  receiver.stop();
  await stopServers();
  return report;
}

function script(): Record<string, Answer[]> {
  const names: Record<string, Answer[]> = {
    "public4.test": [{ addresses: [PUBLIC_V4] }],
    "public6.test": [{ addresses: [PUBLIC_V6] }],
    "both.test": [{ addresses: [PUBLIC_V4, PUBLIC_V6] }],
    "alias.test": [{ aliases: ["a.corp", "b.corp"], addresses: ["10.0.0.1"] }],
    "again-rebind.test": [{ addresses: [PUBLIC_V4] }, { addresses: ["10.0.0.1"] }],
  };
  for (const host of SILENT) names[host] = ["silent"];
  for (const [index, address] of INSIDE.entries()) {
    names[`only${index}.test`] = [{ addresses: [address] }];
    names[`mixed${index}.test`] = [{ addresses: [PUBLIC_V4, address, PUBLIC_V6] }];
  }
  return names;
}

/** A receiver in a namespace across a wire, which is the way to every address that is not this machine's. */
async function startReceiver() {
  const child = Bun.spawn(["unshare", "-n", process.execPath, join(import.meta.dir, "egress-receiver.ts")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const { pid } = child;
  const own = readlinkSync("/proc/self/ns/net");
  while (existsSync(`/proc/${pid}`) && readlinkSync(`/proc/${pid}/ns/net`) === own) await Bun.sleep(1);
  const inside = (...args: string[]) => command("nsenter", "-t", String(pid), "-n", ...args);
  command("ip", "link", "add", "wire0", "type", "veth", "peer", "name", "wire1");
  command("ip", "link", "set", "wire1", "netns", String(pid));
  command("ip", "addr", "add", `${OWN_V4}/24`, "dev", "wire0");
  command("ip", "addr", "add", `${OWN_V6}/64`, "dev", "wire0", "nodad");
  command("ip", "link", "set", "wire0", "up");
  inside("ip", "link", "set", "lo", "up");
  inside("ip", "addr", "add", `${PUBLIC_V4}/24`, "dev", "wire1");
  inside("ip", "addr", "add", `${PUBLIC_V6}/64`, "dev", "wire1", "nodad");
  for (const address of INSIDE) {
    if (/^(127|0)\.|^::/.test(address) || address === OWN_V4 || address === OWN_V6) continue;
    const bits = address.includes(":") ? ["/128", "nodad"] : ["/32"];
    inside("ip", "addr", "add", `${address}${bits[0]}`, "dev", "wire1", ...bits.slice(1));
  }
  inside("ip", "link", "set", "wire1", "up");
  command("ip", "route", "add", "default", "via", PUBLIC_V4, "dev", "wire0");
  command("ip", "-6", "route", "add", "default", "via", PUBLIC_V6, "dev", "wire0");
  const lines: { host: string; from: string }[] = [];
  const listening = Promise.withResolvers<void>();
  void (async () => {
    let text = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const whole = text.split("\n");
      text = whole.pop() ?? "";
      for (const line of whole) {
        if (line.includes('"port"')) listening.resolve();
        else lines.push(JSON.parse(line));
      }
    }
  })();
  await listening.promise;
  return { lines: () => [...lines], stop: () => child.kill("SIGKILL") };
}

/** Gives up after a while: what is missing then, the report shows. */
async function until(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!isTrue() && performance.now() < deadline) await Bun.sleep(10);
}

function command(...parts: string[]): void {
  const { success, stderr } = Bun.spawnSync(parts);
  if (!success) throw new Error(`${parts.join(" ")}: ${stderr.toString()}`);
}
