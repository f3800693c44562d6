import { join } from "node:path";
import { sqliteGateway } from "../../helpers/gateways.ts";
import { emptyFolder, type Server } from "../../helpers/server.ts";
import { plainImage } from "./pictures.ts";

/** What commands of the table work on. */
export interface Setup {
  readonly server: Server;
  readonly key: string;
  readonly token: string;
  /** A completed task. */
  readonly task: string;
  /** The callback of one. */
  readonly callback: string;
  /** A new word at each call, for names. */
  name(): string;
  /** Runs a command first that must succeed. @returns what it prints as JSON */
  first(...args: string[]): Promise<Readonly<Record<string, unknown>>>;
}

/** One command: how it is run, and what it promises. */
export interface Row {
  /** What follows its name. Called anew for each run. */
  readonly args?: (setup: Setup) => readonly string[] | Promise<readonly string[]>;
  /** How it ends when all is well; 0 unless given. */
  readonly exitCode?: number;
  /** The names on the first level of its JSON; there may be more. */
  readonly keys?: readonly string[];
  /** Text that it reads from standard input. */
  readonly stdin?: (setup: Setup) => string;
  /** Runs until it is stopped, or does more than print: only its help and its mistakes are looked at. */
  readonly endless?: true;
  /** Prints tables, which fit a narrow terminal. */
  readonly isTable?: true;
  /** Runs on a real terminal too: it draws there, or shows that the others are given what a terminal is. */
  readonly hasTerminal?: true;
}

const local =
  (...args: string[]) =>
  (setup: Setup) => [...args, "--data-dir", setup.server.dataDir];
const image = ["-m", "sandbox-image", "-p", "x", "-i", "size=16x16"];

const QUICK = ["-i", 'sandbox:={"delay_ms":0}'];

async function picture(): Promise<string> {
  const path = join(emptyFolder("picture"), "photo.png");
  await Bun.write(path, await plainImage(16, 16));
  return path;
}

/** A form of a provider, in a file of its own. */
async function form(): Promise<string> {
  const path = join(emptyFolder("form"), "plain.yaml");
  await Bun.write(
    path,
    [
      "provider: plain",
      "form: 1",
      "base: https://api.plain.example",
      "auth: { header: x-key, value: '${key}', key_env: PLAIN_KEY }",
      "submit:",
      "  post: /pictures",
      "  json: { prompt: '${prompt}' }",
      "  outputs: { base64: '${body.picture}' }",
    ].join("\n"),
  );
  return path;
}

/** A data folder whose settings have a check. */
async function moderated(): Promise<string> {
  const folder = emptyFolder("moderated");
  await Bun.write(join(folder, "svc.yaml"), "moderation: { checks: { slurs: { words: [nude] } } }\n");
  return folder;
}

/** A data folder whose settings say who is told of what goes wrong. */
async function alerted(): Promise<string> {
  const folder = emptyFolder("alerted");
  await Bun.write(join(folder, "svc.yaml"), 'alerts: [{ on: all, to: ["true"] }]\n');
  return folder;
}

/** A workflow in a file of its own. */
async function workflow(): Promise<string> {
  const path = join(emptyFolder("workflow"), "plain.json");
  const save = { class_type: "SaveImage", inputs: { filename_prefix: "svc", images: ["1", 0] } };
  const draw = { class_type: "Draw", inputs: { prompt: "a house", seed: 1 } };
  await Bun.write(path, JSON.stringify({ "1": draw, "2": save }));
  return path;
}

/** A configuration of another gateway. */
async function litellmConfig(): Promise<string> {
  const path = join(emptyFolder("litellm"), "config.yaml");
  await Bun.write(path, "model_list: [{ model_name: a, litellm_params: { model: openai/gpt-image-2 } }]\n");
  return path;
}

function emptyGateway(of: "new-api" | "one-api"): Promise<string> {
  return sqliteGateway(join(emptyFolder(of), "gateway.db"), { of, rows: {} });
}

async function account(setup: Setup): Promise<string> {
  const name = setup.name();
  await setup.first("accounts", "create", name, "--credit", "5.00", ...local()(setup));
  return name;
}

async function key(setup: Setup): Promise<string> {
  const name = setup.name();
  await setup.first("keys", "create", "--name", name, ...local()(setup));
  return name;
}

async function submitted(setup: Setup, ...flags: string[]): Promise<string> {
  return String((await setup.first("task", "submit", ...image, ...flags)).task_id);
}

const SHORT = ["-i", "duration=1", "-i", "aspect_ratio=1:1", ...QUICK];
const videos = new WeakMap<Setup, Promise<string>>();
/** A completed video, made once: drawing and encoding one takes long. */
const video = (setup: Setup): Promise<string> =>
  videos.getOrInsertComputed(setup, async () => String((await setup.first("video", "x", ...SHORT)).task_id));

const GROUP = ["x", "-m", "sandbox-image", "-i", "size=16x16", "-g", "seed=1,2"];
const HANGING = ["-i", 'sandbox:={"outcome":"hang"}'];
const group = async (setup: Setup, how = QUICK) =>
  String((await setup.first("group", "create", ...GROUP, ...how)).group_id);

/* The fields of what several commands print. Fields are only ever added. */
const TASK = ["created_at", "model", "progress", "status", "task_id"];
const MADE = [...TASK, "completed_at", "files", "result", "usage"];
const ACCOUNT = [
  "available",
  "balance",
  "created_at",
  "credit_limit",
  "currency",
  "held",
  "id",
  "low_balance",
  "mode",
  "name",
  "price_multiplier",
  "retain_callbacks_seconds",
  "retain_inputs_seconds",
  "retain_outputs_seconds",
  "retain_tasks_seconds",
  "status",
];
const GROUP_KEYS = [
  ...[
    "contact_sheet",
    "created_at",
    "deadline_at",
    "group_id",
    "policy",
    "status",
    "tasks",
    "usage",
    "winner",
  ],
];
const IMPORT = ["applied", "counts", "items", "new_keys", "source"];
const KEY = [
  "account_id",
  "aliases",
  "allow_ips",
  "concurrency",
  "created_at",
  "display",
  "expires_at",
  "features",
  "id",
  "models",
  "moderation",
  "name",
  "previous",
  "price_multiplier",
  "quota",
  "requests_per_minute",
  "response_format",
  "revoked_at",
  "signs_callbacks",
  "status",
  "sync_wait_seconds",
];
const PRICE = ["model", "price", "reason", "set_at", "source", "unpriced"];
const SESSION = ["created_at", "expires_at", "holder", "id", "role", "state"];
const TOKEN = ["created_at", "display", "id", "name", "revoked_at", "status"];

/** Every command. One that is missing here fails the test. */
export const ROWS: Readonly<Record<string, Row>> = {
  "svc serve": { endless: true },
  "svc image": { keys: MADE, args: () => ["x", "-i", "size=16x16", ...QUICK], hasTerminal: true },
  "svc edit": { keys: MADE, args: async () => [await picture(), "x", "-i", "size=16x16", ...QUICK] },
  "svc video": { keys: MADE, args: () => ["x", ...SHORT] },
  "svc estimate": {
    keys: ["affordable", "currency", "line_items", "max_cost", "min_cost", "model", "status"],
    args: () => ["-m", "sandbox-image"],
  },
  "svc task submit": {
    keys: ["cost", "idempotency_key", "kind", "model", "replayed", "request_id", "task_id"],
    args: () => image,
  },
  "svc task get": { keys: [...TASK, "completed_at", "result", "usage"], args: ({ task }) => [task] },
  "svc task trace": {
    keys: ["assets", "attempts", "callbacks", "price", "task"],
    args: ({ task }) => [task],
  },
  "svc task wait": { keys: [...TASK, "completed_at", "result", "usage"], args: ({ task }) => [task] },
  "svc task watch": {
    keys: [...TASK, "completed_at", "result", "usage"],
    args: ({ task }) => [task],
    hasTerminal: true,
  },
  "svc task list": { keys: ["next", "tasks"], isTable: true, hasTerminal: true },
  "svc task cancel": {
    keys: [...TASK, "cancel_requested"],
    args: async (setup) => [await submitted(setup, ...HANGING)],
  },
  "svc task delete": {
    keys: ["deleted"],
    args: async (setup) => [await submitted(setup, "--wait"), "--yes"],
  },
  "svc task download": {
    keys: ["files", "task_id"],
    args: ({ task, name }) => [task, "-o", `${name()}.png`],
  },
  "svc task retry": {
    keys: ["cost", "idempotency_key", "kind", "model", "replayed", "request_id", "task_id"],
    args: ({ task }) => [task],
  },
  "svc task variations": {
    keys: ["idempotency_key", "refused", "task_ids", "variation_of"],
    args: ({ task }) => [task, "-n", "2"],
  },
  "svc task extend": {
    keys: ["cost", "idempotency_key", "kind", "model", "replayed", "request_id", "task_id"],
    args: async (setup) => {
      return [await video(setup), "-m", "sandbox-video-edit", "-i", "duration=1", ...HANGING];
    },
  },
  "svc task upscale": {
    keys: ["cost", "idempotency_key", "kind", "model", "replayed", "request_id", "task_id"],
    args: ({ task }) => [task, "-i", "factor=4"],
  },
  "svc task tree": { keys: ["next", "tasks"], args: ({ task }) => [task], isTable: true },
  "svc group create": {
    keys: ["cost", "group_id", "idempotency_key", "replayed", "task_ids"],
    args: () => [...GROUP, ...QUICK],
  },
  "svc group show": { keys: GROUP_KEYS, args: async (setup) => [await group(setup, HANGING)] },
  "svc group list": { keys: ["groups", "next"], isTable: true },
  "svc group watch": { keys: GROUP_KEYS, args: async (setup) => [await group(setup)] },
  "svc group cancel": { keys: GROUP_KEYS, args: async (setup) => [await group(setup, HANGING)] },
  "svc files upload": { keys: ["expires_at", "id", "url"], args: async () => [await picture()] },
  "svc files list": { keys: ["files", "next"], isTable: true },
  "svc files delete": {
    keys: ["deleted"],
    args: async (setup) => [String((await setup.first("files", "upload", await picture())).id), "--yes"],
  },
  // It would open a window where there is a desktop.
  "svc task open": { endless: true },
  "svc models list": { keys: ["models"], isTable: true, hasTerminal: true },
  "svc models schema": { keys: ["properties", "required", "type"], args: () => ["sandbox-image"] },
  "svc models show": {
    keys: [
      "inputs",
      "available",
      "create_path",
      "deadline_seconds",
      "description",
      "id",
      "kind",
      "modes",
      "name",
      "price",
      "schema",
    ],
    args: () => ["sandbox-image"],
  },
  "svc models init": {
    keys: ["file", "guesses", "kind", "model", "slots"],
    args: async ({ name }) => ["--from", await workflow(), "-o", `${name()}.yaml`],
  },
  "svc callbacks list": { keys: ["callbacks", "next"], isTable: true },
  "svc callbacks show": {
    keys: [
      "attempts",
      "created_at",
      "history",
      "id",
      "max_attempts",
      "next_attempt_at",
      "payload",
      "redelivery_due",
      "request_id",
      "state",
      "task_id",
      "url",
    ],
    args: ({ callback }) => [callback],
  },
  "svc callbacks redeliver": { keys: ["callbacks"], args: () => ["--since", "1h"] },
  "svc callbacks trigger": { keys: [...TASK, "completed_at", "result", "usage"], args: () => ["completed"] },
  "svc callbacks listen": { endless: true },
  "svc mcp": { endless: true },
  "svc login": {
    keys: ["display", "kind", "path", "profile", "server", "version"],
    args: ({ server }) => ["--server", server.url, "--key-stdin"],
    stdin: ({ key }) => key,
  },
  "svc logout": { exitCode: 5 },
  "svc whoami": {
    keys: [
      "account",
      "balance",
      "blocked_by",
      "can_create",
      "key",
      "management_token",
      "profile",
      "server",
      "server_time",
      "tasks",
      "usage",
      "version",
    ],
  },
  "svc api": { args: () => ["GET", "/v1/account/status"], keys: ["code", "data", "message"] },
  "svc top": {
    keys: [
      "callbacks",
      "creates",
      "disk",
      "lanes",
      "loop",
      "memory",
      "models",
      "open",
      "providers",
      "requests",
      "server",
      "spend",
      "tasks",
      "windows",
    ],
    args: ({ token }) => ["--once", "--token", token],
    hasTerminal: true,
  },
  "svc log level": {
    keys: ["level", "until", "usual"],
    args: ({ token }) => ["debug", "--for", "1s", "--token", token],
  },
  "svc logs": { args: local(), exitCode: 5 },
  "svc config show": { keys: ["settings"], args: local(), isTable: true },
  "svc config validate": { keys: ["file", "notes", "ok", "problems", "warnings"], args: local() },
  "svc config schema": { keys: ["$defs", "properties", "title", "type"] },
  "svc config reload": {
    keys: ["changed", "in_force", "problems", "restart"],
    args: ({ token }) => ["--token", token],
  },
  "svc config diff": { keys: ["differences"], args: local(), isTable: true },
  "svc service install": {
    keys: ["changed", "data_dir", "env_file", "executable", "name", "started", "unit", "user"],
    args: () => ["--dry-run", "--executable", "/usr/bin/env"],
  },
  "svc service uninstall": {
    keys: ["name", "removed"],
    args: () => ["--root", emptyFolder("no-service")],
    exitCode: 5,
  },
  "svc service status": { args: () => ["--name", "svc-none"], exitCode: 5 },
  "svc keys create": {
    keys: [...KEY, "account", "key"],
    args: (setup) => local("--name", setup.name())(setup),
  },
  "svc keys list": { keys: ["keys"], args: local(), isTable: true },
  "svc keys show": { keys: [...KEY, "account"], args: local("default") },
  "svc keys update": { keys: [...KEY, "account"], args: local("default", "--rpm", "none") },
  "svc keys rotate": {
    keys: [...KEY, "account", "key"],
    args: async (setup) => local(await key(setup))(setup),
  },
  "svc keys revoke": { keys: KEY, args: async (setup) => local(await key(setup), "--yes")(setup) },
  "svc keys snippet": {
    keys: ["for", "key", "model", "place", "program", "text"],
    args: local("default", "--for", "curl"),
  },
  "svc accounts create": { keys: ACCOUNT, args: (setup) => local(setup.name())(setup) },
  "svc accounts list": { keys: ["accounts"], args: local(), isTable: true },
  "svc accounts show": { keys: [...ACCOUNT, "holds", "ledger"], args: local("default") },
  "svc accounts update": {
    keys: ACCOUNT,
    args: async (setup) => local(await account(setup), "--credit-limit", "1")(setup),
  },
  "svc accounts suspend": {
    keys: ACCOUNT,
    args: async (setup) => local(await account(setup), "--yes")(setup),
  },
  "svc accounts purge": {
    keys: ["account_id", "files", "files_left", "remains", "tasks", "verified"],
    args: async (setup) => local(await account(setup), "--yes")(setup),
  },
  "svc accounts activate": { keys: ACCOUNT, args: async (setup) => local(await account(setup))(setup) },
  "svc accounts credit": { keys: ACCOUNT, args: async (setup) => local(await account(setup), "1.00")(setup) },
  "svc accounts refund": {
    keys: ["account", "currency", "refunded", "task_id"],
    args: async (setup) => local(await submitted(setup, "--wait"), "--reason", "x")(setup),
  },
  "svc pricing list": { keys: ["prices"], args: local(), isTable: true },
  "svc pricing show": { keys: PRICE, args: local("sandbox-image") },
  "svc pricing set": { keys: PRICE, args: local("sandbox-image", "--per-output", "0.01") },
  "svc pricing reset": { keys: PRICE, args: local("sandbox-video", "--yes") },
  "svc nodes list": { keys: ["nodes"], args: ({ token }) => ["--token", token], isTable: true },
  "svc routes list": { keys: ["0"], args: local(), isTable: true },
  "svc routes explain": {
    keys: ["mode", "model", "outcome", "policy", "policy_from", "ways"],
    args: ({ token }) => ["sandbox-image", "--token", token],
  },
  "svc routes block": { keys: ["0"], args: local("sandbox", "picture", "--reason", "x") },
  "svc routes allow": { keys: ["0"], args: local("sandbox") },
  "svc console link": { keys: [...SESSION, "url"], args: local() },
  "svc console list": { keys: ["sessions"], args: local(), isTable: true },
  "svc console end": {
    keys: ["id"],
    args: async (setup) => {
      const { id } = await setup.first("console", "link", ...local()(setup));
      return [String(id), ...local()(setup)];
    },
  },
  "svc tokens create": { keys: [...TOKEN, "token"], args: (setup) => local("--name", setup.name())(setup) },
  "svc tokens list": { keys: ["tokens"], args: local(), isTable: true },
  "svc tokens revoke": {
    keys: TOKEN,
    args: async (setup) => {
      const name = setup.name();
      await setup.first("tokens", "create", "--name", name, ...local()(setup));
      return local(name, "--yes")(setup);
    },
  },
  "svc ledger": { keys: ["account", "entries"], args: local("default"), isTable: true },
  "svc usage": { keys: ["by", "currency", "rows", "since", "total", "until"], args: local(), isTable: true },
  "svc audit": { keys: ["adds_up", "checks", "data_dir", "differences", "rows", "sums"], args: local() },
  "svc audit log": { keys: ["entries", "next"], args: local(), isTable: true },
  "svc providers list": { keys: ["0"], args: local(), isTable: true },
  "svc providers show": { keys: ["accounts", "facts", "form", "id", "needs", "routes"], args: local("bfl") },
  "svc providers test": { keys: ["accounts", "ok"], args: local(), isTable: true },
  "svc providers discover": { keys: ["engines", "skipped"], args: local() },
  "svc providers add": {
    keys: ["account", "data_dir", "provider"],
    args: (setup) => local("fal", "--account", "spare", "--key-stdin")(setup),
    stdin: () => "key-of-nobody",
  },
  "svc providers init": { keys: ["file", "provider", "todos"], args: ({ name }) => [name()] },
  "svc providers try": { args: async () => [await form(), "a-model", "-p", "x", "--yes"], exitCode: 4 },
  "svc providers check": {
    keys: ["examples", "findings", "ok", "troubles"],
    args: async () => [await form()],
  },
  "svc providers remove": {
    keys: ["account", "data_dir", "provider"],
    args: local("openai", "--account", "spare", "--yes"),
    exitCode: 5,
  },
  "svc import litellm": {
    keys: IMPORT,
    args: async (setup) => [await litellmConfig(), ...local()(setup)],
    isTable: true,
  },
  "svc import new-api": {
    keys: IMPORT,
    args: async (setup) => [await emptyGateway("new-api"), ...local()(setup)],
  },
  "svc import one-api": {
    keys: IMPORT,
    args: async (setup) => [await emptyGateway("one-api"), ...local()(setup)],
  },
  "svc import openai-env": { keys: IMPORT, args: local(), isTable: true },
  "svc moderation test": {
    keys: ["checks", "verdict"],
    args: async () => ["a fox", "--data-dir", await moderated()],
    isTable: true,
  },
  "svc alerts test": {
    keys: ["targets"],
    args: async () => ["--data-dir", await alerted()],
    isTable: true,
  },
  "svc doctor": { keys: ["checks"], args: local() },
  "svc migrate": { keys: ["applied", "current", "data_dir", "latest", "pending"], args: local("status") },
  "svc db backup": {
    keys: [
      ...["bytes", "copied_bytes", "data_dir", "files", "left_out", "made_at", "missing", "path", "removed"],
      ...["schema", "svc"],
    ],
    args: (setup) => [join(emptyFolder("backups"), "b"), ...local()(setup)],
  },
  "svc db backups": {
    keys: ["backups", "place"],
    args: async (setup) => {
      const backups = emptyFolder("backups");
      await setup.first("db", "backup", backups, ...local()(setup));
      return [backups, ...local()(setup)];
    },
    isTable: true,
  },
  "svc db restore": {
    keys: [
      ...["bytes", "data_dir", "ended_tasks", "files", "left_out", "live_tasks", "made_at", "missing"],
      ...["schema", "svc"],
    ],
    args: async (setup) => {
      const backups = emptyFolder("backups");
      await setup.first("db", "backup", backups, ...local()(setup));
      return [backups, "--data-dir", join(emptyFolder("restored"), "data")];
    },
  },
  "svc db check": {
    keys: ["data_dir", "database_bytes", "faults", "free_bytes", "ok", "pages", "schema", "wal_bytes"],
    args: local(),
  },
  // A server runs on the folder.
  "svc db vacuum": { args: local(), exitCode: 7 },
  "svc db move": { args: local("--to", "postgres://svc@127.0.0.1:1/none"), exitCode: 7 },
  "svc assets list": { keys: ["assets", "next"], args: local(), isTable: true },
  "svc assets verify": { keys: ["damaged", "files", "size_bytes"], args: local() },
  "svc assets gc": {
    keys: ["contents", "dry_run", "files", "size_bytes", "young"],
    args: local("--dry-run"),
  },
  // The settings name no bucket.
  "svc assets move": { args: local("--to", "s3"), exitCode: 7 },
  "svc assets claim": {
    keys: ["before", "bucket", "data_dir", "folder", "folder_before", "prefix"],
    args: local("--yes"),
  },
  "svc complete": { keys: ["script", "shell"], args: () => ["bash"] },
  "svc upgrade": {
    keys: ["current", "index", "latest", "newer", "problem", "releases"],
    args: () => ["--check", "--index", "http://127.0.0.1:1"],
  },
  "svc version": { keys: ["bun", "platform", "version"] },
  "svc help": {
    keys: [
      "aliases",
      "arguments",
      "commands",
      "description",
      "examples",
      "exit_codes",
      "flags",
      "name",
      "notes",
      "path",
      "usage",
    ],
    args: () => ["keys", "create"],
  },
};
