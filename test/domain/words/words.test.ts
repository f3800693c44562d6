import { describe, expect, test } from "bun:test";
import type { KeyId, TaskId } from "../../../src/domain/ids.ts";
import { toMicros } from "../../../src/domain/money/money.ts";
import { cut, namesFrom, show } from "../../../src/domain/words/say.ts";
import { describe as describeFacts, type Facts, fieldOf } from "../../../src/domain/words/words.ts";

/** A field, by our name and by the reader's. */
const field = "our_field[2]";
const READER = "--reader-field";
const other = "our_other";

const task = "task_1" as TaskId;
const funds = { balance: toMicros(1), held: toMicros(2), creditLimit: toMicros(0) };

/** Facts of every kind: without some for a kind, this does not compile. */
const EVERY_KIND: { readonly [Kind in Facts["kind"]]: Omit<Extract<Facts, { kind: Kind }>, "kind"> } = {
  must: { field, must: { form: "text" }, given: 1 },
  violation: { field, must: { types: ["string"] }, given: 1 },
  rule: { field, rule: "{our_field} is valid only together with {our_other}." },
  required: { field, by: "the-model" },
  not_with: { field, other: "b" },
  only_with: { field, needed: other },
  unknown_field: { field, owner: "the-model", near: other, known: [] },
  given_twice: { field },
  member_given_twice: { member: "name" },
  contains: { field, what: "a NUL character" },
  not_after: { field, other, given: "x" },
  finding: { field, finding: "is empty" },

  stored_file_unknown: { field },
  stored_file_gone: { field },
  other_media: { field, wanted: "image", given: "video" },
  output_only: { field, given: "image/gif" },
  uploads_full: { used: { files: 1, bytes: 2 }, most: { files: 3, bytes: 4 } },
  upload_taken: { field },
  not_base64: { field },
  data_uri_unwanted: { field },
  not_an_image_task: { field },
  task_not_completed: { field, status: "failed" },
  result_absent: { field, results: 2, given: 3 },
  one_image_at_a_time: { field, model: "m", given: 2 },
  background_not_transparent: { field, model: "m", given: "transparent" },
  not_a_choice: { field, model: "m", given: "webp" },
  field_undoable: { field, model: "m" },
  unrouted_value: { field, model: "m", must: { anyOf: [1, 2] }, given: 3 },
  unrouted_field: { field, model: "m" },
  unrouted_mode: { field, model: "m", mode: "b", modes: [{ id: "a", requires: [] }] },
  no_edits: { field, model: "m" },
  no_variations: { field, model: "m" },
  image_unused: { field, model: "m" },
  media_unused: { field, model: "m" },
  edits_one_image: { field, model: "m", given: 2 },
  image_required: { field },
  too_many_images: { field },
  version_unknown: { field },

  content_type: { wanted: "application/json", given: null },
  content_encoding: { given: "br" },
  body_too_large: { most: 1 },
  body_unfinished: {},
  body_not_utf8: {},
  body_not_json: {},
  body_not_object: {},
  body_too_deep: {},
  body_too_detailed: {},
  body_too_long: {},
  boundary_absent: {},
  boundary_too_long: { length: 2, most: 1 },
  boundary_malformed: { given: "ä" },
  form_empty: {},
  form_unstarted: {},
  form_unended: {},
  form_too_many: { field, what: "files", most: 1 },
  form_field_too_large: { field: "form", most: 1 },
  form_field_not_utf8: { field: "form" },
  form_field_nul: { field: "form" },
  part_header_too_large: { part: 1, most: 1 },
  part_header: { part: 1, fault: "no_name" },
  part_nested: { part: 1 },
  part_encoded: { part: 1, encoding: "base64" },
  part_charset: { part: 1, charset: "utf-16" },
  upload_too_slow: {},
  upload_abandoned: {},
  too_many_uploads: { retryAfterSec: 5 },
  hops_malformed: { given: "x" },
  overloaded: { retryAfterSec: 5 },
  queue_too_long: { model: "m", limitSec: 60, retryAfterSec: 5 },
  too_many_hops: { hops: 4 },
  route_policy_unknown: { given: "x", known: ["ordered"] },
  route_unknown: { given: "x", model: "m", known: ["fal", "fal:flux"] },
  answer_too_late: { limitSec: 120 },
  audit_goes_on: { forSec: 119 },
  cannot_store: {},
  cannot_store_more: {},
  defect: {},

  key_absent: {},
  key_malformed: {},
  key_invalid: {},
  key_expired: {},
  key_elsewhere: {},
  credentials_differ: {},
  key_suspended: {},
  key_not_token: {},
  token_absent: {},
  token_malformed: {},
  token_invalid: {},
  token_expired: {},
  session_ended: {},
  link_invalid: {},
  other_origin: {},
  too_many_sign_ins: { retryAfterSec: 5 },
  scope_missing: { scope: "keys", has: ["read", "money"] },
  scope_exceeded: { scope: "money", field: "scopes" },
  maker_outlived: { until: "2027-01-31T12:00:00.000Z", field: "expires_at" },
  token_not_key: {},
  authorization_malformed: {},
  host_malformed: {},
  model_forbidden: { model: "m", field },
  feature_forbidden: { feature: "compat" },
  route_forbidden: {},
  too_many_requests: { perMinute: 1, retryAfterSec: 5 },
  too_many_stays: { whose: "key", what: "streams", most: 100, retryAfterSec: 5 },
  too_many_connections: { retryAfterSec: 5 },
  unknown_path: { path: "/v1/x", nearby: { below: "/v1", next: ["files", "images"] } },
  model_path_long: { segments: 6, most: 5 },
  start_too_late: { task },
  only_works: {},
  method_not_allowed: { method: "PUT", allow: ["GET"] },

  model_unusable: { field },
  model_unknown: { model: "m", field },
  task_files_gone: { field, removedAt: 0 },
  group_above_concurrency: { tasks: 3, concurrency: 2 },
  model_of_other_tool: { model: "m", makes: "video", tool: "generate_video", field },
  model_of_other_kind: { model: "m", makes: "video", path: "/v1/videos/generations", field },
  no_image_model: {},
  video_model_here: { model: "m", field },
  image_model_here: { model: "m", field },
  model_without_provider: { model: "m", field },
  no_mode: { model: "m", modes: [{ id: "text", requires: [] }] },
  unpriced: { model: "m" },
  insufficient: { needed: toMicros(2), available: toMicros(1), limitedBy: "balance" },
  above_max_cost: { field: "max_cost", cost: toMicros(2), most: toMicros(1) },
  max_cost_needed: { field: "max_cost", cost: toMicros(2), above: toMicros(1) },
  quantity_uncountable: { quantity: 1000 },
  too_many_tasks: { concurrency: 1 },
  draining: {},
  disk_low: {},
  content_refused: { field },
  moderation_unavailable: {},
  idempotency_key_unusable: { length: 256 },
  idempotency_keys_differ: {},
  idempotency_in_progress: {},
  idempotency_conflict: {},
  task_unknown: {},
  group_unknown: {},
  group_too_large: { field, members: 17 },
  group_empty: { field },
  group_field_twice: { field },
  task_over: { status: "failed" },
  task_live: { status: "pending" },
  variation_seedless: { model: "m" },
  follow_up_unable: { field, model: "m", followUp: "extend", able: ["a", "b"] },
  follow_up_of_image: { task },
  follow_up_source: { field },
  task_undeletable: { status: "pending" },
  task_cancelled: { task },
  task_failed: { task, error: { code: "UPSTREAM_ERROR", message: "It failed." } },
  task_goes_on: { task },
  task_goes_on_later: { task },
  task_unread: { task },
  video_unready: { task, status: "pending" },
  video_unmade: { task, status: "failed" },
  result_lost: { task },
  hook_unknown: {},
  file_unknown: {},
  manifest_unknown: {},
  manifest_id: { field },
  manifest_file_taken: { file: "mine.yaml", model: "other" },
  manifest_finding: { field, line: 3, column: 7, message: "kind must be image or video", more: 2 },
  manifest_other_id: { field, id: "mine", model: "yours" },
  manifests_full: { most: 500 },
  usage_too_long: { most: 10_000 },
  search_off: { field },
  thumbnail_none: { why: "codec" },
  thumbnails_busy: {},
  callback_unknown: {},
  callback_exhausted: {},
  callbacks_unselected: { field, given: "both" },
  estimate_without_model: { field },

  unknown: { what: "key", given: "k" },
  name_length: { what: "key", field, most: 100, length: 0 },
  name_characters: { what: "key", field },
  name_like_id: { what: "key", field },
  account_taken: { field, name: "n" },
  token_taken: { field, name: "n" },
  import_clash: { of: "key", name: "web" },
  key_taken: { field, account: "a", name: "n" },
  key_ambiguous: { field, name: "n", ids: ["key_1" as KeyId], isMore: true },
  settings_fixed: {},
  keys_revoked: { name: "n", id: "key_1" as KeyId },
  key_revoked: { field, given: "k" },
  grace: { field, most: 1, given: 2 },
  grace_alone: { field },
  signing_secret: { field, anew: "new" },
  quota_without_limit: { field },
  first_credit: { field, given: toMicros(-1) },
  amount_zero: { field },
  amount_not_positive: { field, given: toMicros(-1) },
  credit_limit_too_low: { field, ...funds },
  balance_too_low: { ...funds, amount: toMicros(-1) },
  balance_uncountable: { field, balance: toMicros(1), amount: toMicros(1) },
  refund_too_high: { field, charged: toMicros(1), given: toMicros(2) },
  not_charged: { field, task },
  already_refunded: { field, task },
  reason_controls: { field },
  price_reason: { field, most: 200, length: 201 },
  price_rule: { field, finding: "must be above zero" },
  since_after_until: { field, other, given: "2026-11-02", until: "2026-11-01" },
};

// Each sample has the facts of its own kind.
const SAMPLES = Object.entries(EVERY_KIND).map(
  ([kind, facts]) => [kind, { kind, ...facts } as Facts] as const,
);
const nameOf = namesFrom({ [field]: READER, our_field: READER, [other]: "--other" });

test.each(SAMPLES)("%s is told in a sentence that names fields as its reader does", (_, facts) => {
  const message = describeFacts(facts, nameOf);
  expect(message).toMatch(/^\S.*[.?)`]$/);
  expect(message).not.toMatch(/our_|undefined|NaN|\[object/);
  expect(describeFacts(facts, (name) => name)).not.toContain("--");
});

test.each(SAMPLES)("%s has its param in the reader's name", (_, facts) => {
  const param = "field" in facts ? facts.field : undefined;
  expect(fieldOf(facts, nameOf)).toBe(param === field ? READER : param);
});

describe("names", () => {
  const name = namesFrom({ image_urls: "image", image_url: "image[0]", "quota.limit": "--quota" });
  test.each([
    ["image_urls[1]", "image[1]"],
    ["image_urls", "image"],
    ["image_url", "image[0]"],
    ["quota.limit", "--quota"],
    ["quota.reset", "quota.reset"],
    ["image_urls_more", "image_urls_more"],
    ["constructor", "constructor"],
    ["", ""],
  ])("of %j is %j", (ours, theirs) => {
    expect(name(ours)).toBe(theirs);
  });
});

describe("a rule of a schema", () => {
  const tell = (rule: string, names: Record<string, string> = {}) =>
    describeFacts({ kind: "rule", rule }, namesFrom(names));

  test("names any of several fields as alternatives", () => {
    expect(tell("{m} needs {a|b|c}.")).toBe("m needs a, b or c.");
  });

  test("names fields that the reader has one name for once", () => {
    expect(tell("{m} needs {a|b}.", { a: "x", b: "x" })).toBe("m needs x.");
    expect(tell("{m} needs {a|b}.", { a: "x[0]", b: "x" })).toBe("m needs x.");
  });

  test("is told as it is where it marks no field", () => {
    expect(tell("Give a or b, not both.", { a: "x" })).toBe("Give a or b, not both.");
  });
});

test("a finding that ends with a question has no full stop after it", () => {
  const finding = 'has an unknown field "amuont"; did you mean "amount"?';
  const tell = (facts: Facts) => describeFacts(facts, (name) => name);
  expect(tell({ kind: "price_rule", field: "lines[0]", finding })).toBe(`lines[0] ${finding}`);
  expect(tell({ kind: "finding", field: "lines[0]", finding })).toBe(`lines[0] ${finding}`);
  expect(tell({ kind: "finding", field: "lines", finding: "is empty" })).toBe("lines is empty.");
});

test("a body that takes no fields is told as such", () => {
  const facts = { kind: "unknown_field", field: "prompt", owner: "The body", near: undefined } as const;
  const tell = (known: readonly string[]) => describeFacts({ ...facts, known }, (name) => name);
  expect(tell([])).toBe('Unknown field "prompt". The body takes no fields.');
  expect(tell(["model", "n"])).toBe('Unknown field "prompt". The body takes model, n.');
});

test("a field of the images API is told with where that is", () => {
  const facts: Facts = {
    kind: "unknown_field",
    field: "response_format",
    owner: "a-model",
    known: ["prompt"],
  };
  expect(describeFacts(facts, (name) => name)).toBe(
    'Unknown field "response_format". The images API has this field: send its requests to /compat/v1/images/generations, and give its clients a base address that ends with /compat/v1.',
  );
  expect(describeFacts(facts, (name) => `-i ${name}`)).toBe(
    'Unknown field "-i response_format". a-model takes prompt.',
  );
});

describe("what was given", () => {
  test("is cut at 80 characters, never in the middle of one", () => {
    expect(cut("x".repeat(80))).toBe("x".repeat(80));
    expect(cut("x".repeat(81))).toBe(`${"x".repeat(80)}…`);
    expect(cut(`${"z".repeat(79)}🦊`).isWellFormed()).toBe(true);
  });

  test.each([
    ["a\nb", '"a\\nb"'],
    [1.5, "1.5"],
    [null, "null"],
    [{ a: "list" }, "a list"],
    [{ a: "object" }, "an object"],
    [{ json: { a: 1 } }, '{"a":1}'],
    [{ json: "x".repeat(100) }, `"${"x".repeat(80)}…"`],
  ] as const)("as %j is shown as %s", (given, shown) => {
    expect(show(given)).toBe(shown);
  });
});
