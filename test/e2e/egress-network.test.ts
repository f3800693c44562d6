import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { emptyFolder, SVC } from "../helpers/server.ts";
import { INSIDE, type NamespaceReport } from "./support/egress-namespace.ts";

setDefaultTimeout(120_000);

/*
 * The compiled program in a network of its own, where every address answers and every packet is counted: what names lead to is
 * judged before anything is sent there.
 */
/** Processes of its own too, all of which end with the first. */
const ISOLATED = "unshare --net --mount --pid --fork --mount-proc --kill-child=SIGKILL".split(" ");
const ADD_WIRE = "ip link add wire0 type veth peer name wire1".split(" ");
const canIsolate =
  process.platform === "linux" &&
  Bun.which("unshare") !== null &&
  Bun.which("ip") !== null &&
  Bun.spawnSync([...ISOLATED, ...ADD_WIRE]).success;
if (!canIsolate) {
  console.warn("Skipped: tests of the network need Linux, root, unshare and ip, and virtual interfaces.");
}
const SILENT = /^silent\d+\.test$/;

describe.skipIf(!canIsolate)("in a network where every address answers", () => {
  let report: NamespaceReport;
  beforeAll(async () => {
    const script = join(import.meta.dir, "support/egress-namespace.ts");
    const child = Bun.spawn([...ISOLATED, process.execPath, script], {
      // A folder of its own, too: processes that it cannot see have theirs beside it.
      env: { ...process.env, SVC_BIN: SVC, TMPDIR: emptyFolder("network") },
      stdout: "pipe",
      stderr: "pipe",
      timeout: 50_000,
      killSignal: "SIGKILL",
    });
    const [text, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) throw new Error(`The network did not work: ${complaint}`);
    report = JSON.parse(text);
  }, 60_000);

  const of = (pattern: RegExp) => report.attempts.filter(({ host }) => pattern.test(host));

  test("addresses that are not public are refused at the create, however they are written", () => {
    expect(report.literals.length).toBeGreaterThan(15);
    expect(report.literals.filter(({ status }) => status !== 400)).toEqual([]);
  });

  test("names that lead to such an address, alone or among others, are forbidden and told no more than its kind", () => {
    const attempts = of(/^(only|mixed)\d+\.test$|^alias\.test$|^in-the-hosts-file\.test$/);
    expect(new Set(attempts.map(({ host }) => host)).size).toBe(2 * INSIDE.length + 2);
    for (const { outcome, reason, address } of attempts) {
      expect([outcome, address]).toEqual(["forbidden", null]);
      expect(reason).toMatch(/^points to an address that is not public \([A-Za-z0-9 -]+\)$/);
    }
  });

  test("public addresses of both families get their callbacks", () => {
    const delivered = of(/^(public4|public6|both)\.test$/).map(({ host, outcome, address }) => [
      host,
      outcome,
      address,
    ]);
    expect(delivered.toSorted()).toEqual([
      ["both.test", "delivered", "93.184.216.34"],
      ["public4.test", "delivered", "93.184.216.34"],
      ["public6.test", "delivered", "2606:2800:220:1::1"],
    ]);
    expect(report.received.map(({ host }) => host).toSorted()).toEqual([
      "again-rebind.test",
      "both.test",
      "public4.test",
      "public6.test",
    ]);
  });

  test("a name is looked up once for each attempt, and reached where it was public", () => {
    expect(of(/rebind/).map(({ outcome, address }) => [outcome, address])).toEqual([
      ["refused", "93.184.216.34"],
      ["forbidden", null],
    ]);
    expect(report.queries.filter((query) => query.endsWith("rebind.test")).toSorted()).toEqual([
      "A again-rebind.test",
      "A again-rebind.test",
      "AAAA again-rebind.test",
      "AAAA again-rebind.test",
    ]);
  });

  test("names nobody answers for hold up no callback to another", () => {
    expect(of(SILENT).length).toBeGreaterThanOrEqual(8);
    expect(of(SILENT).filter(({ outcome }) => outcome === "delivered")).toEqual([]);
    expect(report.deliveredMs).toBeLessThan(2_000);
  });

  test("not one packet goes to an address that is not public, for a callback or for a picture", () => {
    const webPorts = Object.keys(report.packets).filter((destination) => /:(80|443)$/.test(destination));
    expect(webPorts.toSorted()).toEqual(["93.184.216.34:80", "[2606:2800:220:1::1]:80"]);
    // The service's own address, the name server's, the receiver's public ones, and neighbour discovery.
    const known =
      /^(127\.0\.0\.(1|53):|93\.184\.216\.(1|34):|\[2606:2800:220:1::(1|ffff)\]|\[ff02::1?(16|2|1:ff[0-9a-f:]+)?\]$)/;
    expect(Object.keys(report.packets).filter((destination) => !known.test(destination))).toEqual([]);
  });
});
