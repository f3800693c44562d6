import type { Config } from "../config/config.ts";
import type { LeveledLog } from "../domain/ports/runtime.ts";
import { auditEndpoints } from "../http/admin/audit/routes.ts";
import { settingEndpoints } from "../http/admin/config/routes.ts";
import { logLevelEndpoints } from "../http/admin/log/routes.ts";
import { providerKeyEndpoints } from "../http/admin/providers/routes.ts";
import { trialEndpoints } from "../http/admin/trials/routes.ts";
import { upkeepEndpoints } from "../http/admin/upkeep/routes.ts";
import type { Endpoint, LateAnswerDeps } from "../http/exchange.ts";
import { createManageLogLevel } from "../service/log-level.ts";
import { createNoteChange } from "../service/note-change.ts";
import { tryChecks } from "../service/try-checks.ts";
import { createUpkeep, type UpkeepDeps } from "../service/upkeep.ts";
import type { Backups } from "./backups.ts";
import type { BookReadings } from "./book-readings.ts";
import type { createReload } from "./live/reload.ts";
import type { Rooms } from "./rooms.ts";
import { createServedKeys } from "./served-keys.ts";

interface OperatorRouteDeps
  extends Omit<UpkeepDeps, "backUp">,
    Pick<LateAnswerDeps, "keepOpen">,
    Pick<Rooms, "store" | "moderation"> {
  readonly config: Config;
  readonly log: LeveledLog;
  /** Absent where settings cannot change. */
  readonly reload: ReturnType<typeof createReload> | undefined;
  readonly backups: Backups;
  readonly audits: Pick<BookReadings, "run" | "check">;
}

/** What only operators request from the server as a whole: its settings, its keys at providers, work on stored data, and tests. */
export function operatorEndpoints(deps: OperatorRouteDeps): Endpoint[] {
  const { config, reload, store, clock, log, backups, audits, moderation, stopping } = deps;
  const noteChange = createNoteChange({ ...store, clock });
  const logLevel = createManageLogLevel({ clock, log, usual: () => config.log.level });
  const upkeep = createUpkeep({ ...deps, backUp: backups.make });
  const keys = createServedKeys({ config, noteChange, reload });
  return [
    ...auditEndpoints(deps),
    ...logLevelEndpoints(logLevel, noteChange),
    ...settingEndpoints({ settings: reload?.shown ?? config.shown, reload: reload?.reload, noteChange }),
    ...upkeepEndpoints({ ...deps, upkeep, noteChange, checkDatabase: audits.check }),
    ...providerKeyEndpoints(keys),
    ...trialEndpoints({
      tryChecks: (text, names) =>
        tryChecks(moderation.now()?.checks ?? new Map(), text, { names, clock, signal: stopping }),
      async testAlerts() {
        // Loaded late, because few servers need it.
        const { testAlerts } = await import("./alerting.ts");
        return await testAlerts(config, stopping);
      },
    }),
  ];
}
