import { join } from "node:path";
import { currentExecutable } from "../../../cli/dev/executable.ts";

/** One state of the project that is measured. */
export interface Build {
  readonly executable: string;
  /** Serves from the sources of this build, with an upstream inside it that costs next to nothing; takes arguments of `svc serve`. */
  readonly instantService: readonly string[];
}

/** @param executable compiled from the sources below `root` */
export function buildOf(root: string, executable: string): Build {
  return { executable, instantService: [process.execPath, join(root, "test/bench/run/instant-service.ts")] };
}

/** This tree, compiled now where that is due, or with the executable that `SVC_BIN` names. */
export function ownBuild(): Build {
  return buildOf(join(import.meta.dir, "../../.."), currentExecutable());
}
