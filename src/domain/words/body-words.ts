import { MAX_JSON_BYTES, MAX_JSON_DEPTH, MAX_JSON_TEXT_BYTES, MAX_JSON_TOKENS } from "../limits.ts";
import { HOPS_HEADER } from "../task/hops.ts";
import { cut, type Field, show, type WordTable } from "./say.ts";

interface Part {
  /** Counted from 1. */
  readonly part: number;
}

/** What is wrong with a body that is no JSON, where that can be told. */
export type JsonFault = keyof typeof JSON_FAULTS;

const JSON_FAULTS = {
  empty: "The body is empty, where JSON is expected.",
  quotes:
    "The body is not valid JSON: names and texts in it need double quotes, which a shell may have taken away.",
  quote:
    'The body is not valid JSON: a double quote is missing, or one too many; within a text it is written \\".',
  comma: "The body is not valid JSON: nothing follows a comma in it but a closing bracket.",
  line_break: "The body is not valid JSON: a line break within a text is written \\n.",
  unended: "The body is not valid JSON: it ends before its last closing bracket.",
} as const;

/** Problems with a body or with its transfer, and reasons why a request ends that are not the caller's fault. */
export const BODY_WORDS = {
  content_type: ({ wanted, given }: { wanted: string; given: string | null }) =>
    `Content-Type must be ${wanted}${given === null || given === "" ? "" : `, got "${cut(given)}"`}.`,
  content_encoding: ({ given }: { given: string }) =>
    `Content-Encoding "${cut(given)}" is not taken; send the body as it is.`,
  body_too_large: ({ most }: { most: number }) =>
    most === MAX_JSON_BYTES
      ? `The body is larger than ${most / 1e6} MB. Upload files first (POST /v1/files) and send their ids, or send addresses of them.`
      : `The body is larger than ${most} bytes.`,
  body_unfinished: () => "The body ended before it was complete.",
  body_not_utf8: () => "The body is not valid UTF-8.",
  body_not_json: ({ fault }: { fault?: JsonFault | undefined }) =>
    fault === undefined ? "The body is not valid JSON." : JSON_FAULTS[fault],
  body_not_object: () => "The body must be a JSON object.",
  body_too_deep: () => `The body is nested deeper than ${MAX_JSON_DEPTH} levels.`,
  body_too_detailed: () => `The body has more than ${MAX_JSON_TOKENS} fields and values.`,
  body_too_long: () =>
    `The body has more than ${MAX_JSON_TEXT_BYTES} bytes besides the content of data URIs.`,

  boundary_absent: () => "Content-Type must name one boundary.",
  boundary_too_long: ({ length, most }: { length: number; most: number }) =>
    `The boundary in Content-Type has ${length} characters, where at most ${most} are taken.`,
  boundary_malformed: ({ given }: { given: string }) =>
    `The boundary in Content-Type must be of letters, digits and '()+_,-./:=?, got "${given}".`,
  form_empty: () => "The body is empty, where a form is expected.",
  form_unstarted: () => "The body does not start with the boundary that Content-Type names.",
  form_unended: () => "The form ends before its last boundary.",
  form_too_many: ({ what, most }: Field & { what: "files" | "fields"; most: number }) =>
    `The form has more than ${most} ${what}.`,
  form_field_too_large: ({ field, most }: Field & { most: number }) =>
    `Field ${show(field)} has more than ${most} bytes; a file needs a file name.`,
  form_field_not_utf8: ({ field }: Field) =>
    `Field ${show(field)} is not valid UTF-8; a file needs a file name.`,
  form_field_nul: ({ field }: Field) => `Field ${show(field)} contains a NUL character.`,
  part_header_too_large: ({ part, most }: Part & { most: number }) =>
    `Part ${part} of the form has a header of more than ${most} bytes.`,
  part_header: ({ part, fault }: Part & { fault: PartFault }) =>
    `Part ${part} of the form ${PART_FAULTS[fault]}.`,
  part_nested: ({ part }: Part) => `Part ${part} of the form is a form itself.`,
  part_encoded: ({ part, encoding }: Part & { encoding: string }) =>
    `Part ${part} of the form has Content-Transfer-Encoding "${cut(encoding)}"; send its content as it is.`,
  part_charset: ({ part, charset }: Part & { charset: string }) =>
    `Part ${part} of the form is in charset "${cut(charset)}", where UTF-8 is expected.`,
  upload_too_slow: () => "The upload is too slow: at least 16 KB a second are expected.",
  upload_abandoned: () => "The client left before its upload was read.",
  too_many_uploads: ({ retryAfterSec }: { retryAfterSec: number }) =>
    `Too many uploads are under way. Send this one again in ${retryAfterSec} seconds.`,

  hops_malformed: ({ given }: { given: string }) =>
    `${HOPS_HEADER} must be an integer from 1, as instances of this service send it, got "${cut(given)}".`,
  too_many_hops: ({ hops }: { hops: number }) =>
    `${hops} instances of this service have passed this request on, probably in a circle; it goes no further.`,

  route_policy_unknown: ({ given, known }: { given: string; known: readonly string[] }) =>
    `X-Route-Policy must be one of ${known.join(", ")}, got "${cut(given)}".`,
  route_unknown: ({ given, model, known }: { given: string; model: string; known: readonly string[] }) =>
    `X-Route names "${cut(given)}", and the model "${model}" has no such route that is switched on. Its routes: ${known.join(", ")}; an account as ${known[0]}/NAME.`,

  answer_too_late: ({ limitSec }: { limitSec: number }) =>
    `This address answers within ${limitSec} seconds, and this request took longer. What it began goes on.`,
  audit_goes_on: ({ forSec }: { forSec: number }) =>
    `The audit goes on; it has taken ${forSec} seconds so far. Ask again with the same depth: the request waits for this audit and gets its answer. The address for long requests and \`svc audit\` have no time limit. What is found right is sealed, so the next audit takes less.`,
  cannot_store: () =>
    "The service cannot store anything at present; nothing of this request was kept. Send it again.",
  cannot_store_more: () => "The service cannot store anything at present.",
  defect: () => "The service made a mistake; the request id names it in its log.",
} satisfies WordTable;

const PART_FAULTS = {
  not_on_own_line: "does not start on a line of its own after its boundary",
  malformed: "has a malformed header",
  given_twice: "has a header twice",
  disposition_malformed: "has a malformed Content-Disposition",
  not_form_data: "has no Content-Disposition of form-data",
  no_name: "has no name",
  name_not_utf8: "has a name that is not valid UTF-8",
} as const;
export type PartFault = keyof typeof PART_FAULTS;
