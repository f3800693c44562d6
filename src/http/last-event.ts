import { mustBe } from "../domain/errors.ts";

/**
 * The number of the last event that a client of an endless stream has seen; undefined if it begins now.
 * @throws AppError `invalid_request` for a wrong id, because starting over would silently skip the events since that id
 */
export function lastEventOf({ headers }: Request): number | undefined {
  const given = headers.get("last-event-id");
  if (given === null || given === "") return undefined;
  if (/^\d+$/.test(given)) return Number(given);
  throw mustBe("Last-Event-ID", { form: "event_id" }, given);
}
