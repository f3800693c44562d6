import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { runAlertCommand } from "../alerting/command.ts";
import { mail } from "../alerting/mail.ts";
import { bodyOf } from "../alerting/message.ts";
import type { AlertSettings } from "../config/alerts/alerts.ts";
import type { Config } from "../config/config.ts";
import type { Notice } from "../domain/alerts.ts";
import type { ReadBackupState } from "../domain/backup-state.ts";
import { isJsonObject } from "../domain/json.ts";
import type { AlertMemory, AlertTarget } from "../domain/ports/alerting.ts";
import type { Counts } from "../domain/ports/tally.ts";
import { createEgress } from "../egress/egress.ts";
import { createSystemClock } from "../runtime/clock.ts";
import { createReadConditions, type DiskTrouble } from "../service/alert-conditions.ts";
import { createAlerting, SEND_LIMIT_MS } from "../service/alerting.ts";
import { VERSION } from "../version.ts";
import type { WatchedDisk } from "./disk.ts";
import type { Rooms } from "./rooms.ts";
import { ALERT_MEMORY } from "./settings.ts";

/** For targets at any address. */
const EVERYWHERE = ["0.0.0.0/0", "::/0"];
const MOST_ANSWER_BYTES = 64 * 1024;

/** The sources of alerts. */
interface Watched {
  readonly tally: Counts;
  readonly backups: ReadBackupState;
  readonly disk: WatchedDisk;
}

/** Who receives alerts, according to the settings. */
function alertTargets({ alerts, egress }: Pick<Config, "alerts" | "egress">): AlertTarget[] {
  const sender = { version: VERSION, host: hostname() };
  return alerts.map((settings): AlertTarget => {
    const { way, ...wish } = settings;
    return {
      ...wish,
      name: nameOf(settings),
      async send(notices, signal) {
        if (way.kind === "command") return runAlertCommand(way, bodyOf(notices, sender), signal);
        if (way.kind === "mail") {
          const to = { address: way.url.reveal(), password: way.password?.reveal() };
          return mail(to, notices, sender, signal);
        }
        const { allow } = way.isPrivate ? { allow: EVERYWHERE } : egress;
        await post({ url: way.url.reveal(), allow }, bodyOf(notices, sender), signal);
      },
    };
  });
}

function nameOf({ way }: AlertSettings): string {
  return way.kind === "command" ? `command ${way.run[0]}` : `${way.kind} ${way.host}`;
}

async function post(
  { url, allow }: { readonly url: string; readonly allow: readonly string[] },
  body: string,
  signal: AbortSignal,
): Promise<void> {
  const options = { maxBytes: MOST_ANSWER_BYTES, signal };
  const { status } = await createEgress({ allow }).ask(url, { body }, options);
  if (status < 200 || status >= 300) throw new Error(`it answered ${status}`);
}

/** Sends a test alert to every target, one after the other. @returns the result for each */
export async function testAlerts(config: Config, signal: AbortSignal) {
  const clock = createSystemClock();
  const summary = "This is a test. Nothing is wrong.";
  const notice: Notice = { state: "test", kind: "test", subject: "", summary, since: clock.now() };
  const tried: { readonly to: string; readonly on: readonly string[]; readonly error: string | undefined }[] =
    [];
  for (const target of alertTargets(config)) {
    const of = { to: target.name, on: target.kinds };
    const limit = new AbortController();
    const stop = clock.after(SEND_LIMIT_MS, () => limit.abort());
    try {
      await target.send([notice], AbortSignal.any([signal, limit.signal]));
      tried.push({ ...of, error: undefined });
    } catch (error) {
      signal.throwIfAborted();
      tried.push({ ...of, error: error instanceof Error ? error.message : String(error) });
    } finally {
      stop();
    }
  }
  return tried;
}

/** Records in the data folder which alerts were sent, so that a restart does not repeat them. The file may be lost. */
function createAlertMemory({ dataDir }: Pick<Config, "dataDir">): AlertMemory {
  const path = join(dataDir, ALERT_MEMORY);
  return {
    load() {
      try {
        const told: unknown = JSON.parse(readFileSync(path, "utf8"));
        // It was written here.
        return isJsonObject(told) ? (told as unknown as ReturnType<AlertMemory["load"]>) : {};
      } catch {
        return {};
      }
    },
    save(told) {
      try {
        writeFileSync(`${path}.part`, JSON.stringify(told), { mode: 0o600, flush: true });
        renameSync(`${path}.part`, path);
      } catch {
        // For example because the disk is full. After a restart, lasting conditions are then reported again.
      }
    },
  };
}

function diskTrouble({ state, reading, advice, isAdvised }: WatchedDisk): DiskTrouble {
  const { free = 0, warnBelow = 0, refuseBelow = 0 } = reading() ?? {};
  const known = { advice: advice() ?? [], isAdvised: isAdvised() };
  return { isRefusing: state() === "refusing", free, warnBelow, refuseBelow, ...known };
}

/** From now on sends alerts to the targets of the settings; in a replay, to nobody. @returns a function that stops it */
export function startAlerting(
  config: Config,
  { clock, log, store, adapters }: Pick<Rooms, "clock" | "log" | "store" | "adapters">,
  { tally, backups, disk }: Watched,
): () => void {
  if (config.replay !== undefined) return () => {};
  const read = createReadConditions({
    ...{ ...store, clock, counts: tally },
    isOn: (lane) => adapters().some((adapter) => adapter.lane === lane),
    backupFailing: () => backups()?.failing,
    disk: () => (disk.state() === "enough" ? undefined : diskTrouble(disk)),
  });
  const alerting = createAlerting({
    clock,
    log,
    targets: () => alertTargets(config),
    read,
    memory: createAlertMemory(config),
    isFinding: () => disk.state() !== "enough" && !disk.isAdvised(),
  });
  alerting.start();
  return alerting.stop;
}
