import type { LevelInForce, LogLevel } from "../../../domain/log-level.ts";
import type { ManageLogLevel } from "../../../service/log-level.ts";
import type { NoteChange } from "../../../service/note-change.ts";
import { readBody } from "../../body.ts";
import { type Endpoint, managed } from "../../exchange.ts";
import { success } from "../../reply.ts";
import { LOG_LEVEL, SET_LEVEL_REQUEST } from "./wire.ts";

interface SetLevelBody {
  readonly level: LogLevel;
  readonly for_seconds?: number;
}

const USUAL_SEC = 600;

/** /admin/v1/log/level. */
export function logLevelEndpoints(logLevel: ManageLogLevel, noteChange: NoteChange): Endpoint[] {
  return [
    managed("GET", "/admin/v1/log/level", LOG_LEVEL.read, async () => success(present(logLevel.read()))),
    managed("POST", "/admin/v1/log/level", LOG_LEVEL.set, async (exchange) => {
      const { level, for_seconds: forSec = USUAL_SEC } = await readBody<SetLevelBody>(
        exchange,
        SET_LEVEL_REQUEST,
      );
      await noteChange(exchange.operator, {
        action: "log.level",
        object: { kind: "server", id: "log" },
        before: { level: logLevel.read().level },
        after: { level, for_seconds: forSec },
      });
      return success(present(logLevel.set(level, forSec * 1_000)));
    }),
  ];
}

function present({ level, usual, until }: LevelInForce) {
  return { level, usual, until: until === undefined ? null : Math.ceil(until / 1_000) };
}
