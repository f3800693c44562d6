import type { JsonObject } from "../../src/domain/json.ts";
import { type AdminCalls, HARMLESS } from "../client/admin.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure, unexpectedAnswer } from "../failure.ts";
import { objectIn, objectsIn, optionalTextIn } from "./fields.ts";
import type { Files } from "./port.ts";

/** A small job is over at once. The delay doubles with each time it is asked for, up to half a second. */
const FIRST_DELAY_MS = 25;
const LONGEST_DELAY_MS = 500;

/** The stored files of a server. */
export function createRemoteFiles(calls: AdminCalls): Files {
  return {
    async list(query) {
      const page = await calls.get("/assets", query);
      return { assets: objectsIn(page, "assets"), next: optionalTextIn(page, "next") ?? null };
    },
    collect: (isTrial) => runJob(calls, "/assets/gc", { dry_run: isTrial }),
    verify: (onFile) => runJob(calls, "/assets/verify", undefined, onFile),
  };
}

/** Starts a job on a server, and polls it until it has ended. @returns its result @throws Failure if it failed */
export async function runJob(
  calls: AdminCalls,
  path: string,
  body?: JsonObject,
  onFile: (files: number) => void = () => {},
): Promise<JsonObject> {
  // One that is under way is not begun again.
  let job = await calls.send("POST", path, body, HARMLESS);
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS)) {
    // The backups have a page around their job.
    const { status, files_so_far: files, error } = "job" in job ? objectIn(job, "job") : job;
    if (typeof files === "number") onFile(files);
    if (status === "done") return objectIn("job" in job ? objectIn(job, "job") : job, "result");
    if (status === "failed")
      throw new Failure(
        EXIT.error,
        "job_failed",
        `On ${calls.server}: ${String(error)}.`.replace(/\.\.$/, "."),
      );
    if (status !== "running")
      throw unexpectedAnswer(`${calls.server} was restarted meanwhile; repeat the command.`);
    await calls.wait(delayMs);
    job = await calls.get(path);
  }
}
