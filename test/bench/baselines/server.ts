/*
 * What the service is measured against, in a process of its own: Hono with one statement and nothing else, or
 * Bun.serve with Bun.file. The database is a copy of the service's own, so that tables, indexes and rows are the same.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { SQL } from "bun";
import { Hono } from "hono";
import { imagesAnswer } from "./images-answer.ts";
import type { BaselinePlan } from "./plan.ts";

/** As the service opens its own: every commit is flushed to the disk before it is answered. */
const SETTINGS = [
  "journal_mode = wal",
  "synchronous = full",
  "foreign_keys = on",
  "cache_size = -65536",
  "temp_store = memory",
];

// Handed over by the parent, which is of the same version.
const plan = JSON.parse(process.argv[2] ?? "null") as BaselinePlan;
Bun.serve({ hostname: "127.0.0.1", port: plan.port, development: false, fetch: handler(plan) });

function handler(given: BaselinePlan): (request: Request) => Response | Promise<Response> {
  switch (given.mode) {
    case "none":
      return answering(async () => newId());
    case "insert":
      return answering(prepareInsert(open(given.database), given.template));
    case "forward":
      return (request) => forward(given.upstream, request);
    case "forward-stored":
      return forwardingStored(given.upstream, open(given.database), given.template);
    case "insert-postgres":
      return answering(preparePostgresInsert(given.database, given.template));
    case "read":
      return reading(open(given.database));
    case "image":
      return () => Response.json(imagesAnswer());
    case "file":
      return (request) => {
        const name = new URL(request.url).pathname.slice(1);
        if (request.headers.has("if-none-match")) return new Response(null, { status: 304 });
        return name === "" ? new Response("ready") : new Response(Bun.file(join(given.directory, name)));
      };
  }
}

function answering(create: () => Promise<string>): (request: Request) => Response | Promise<Response> {
  const app = new Hono();
  app.post("/create", async (context) => {
    await context.req.json();
    return context.json({ code: 200, message: "success", data: { task_id: await create() } });
  });
  return (request) => app.fetch(request);
}

function reading(db: Database): (request: Request) => Response | Promise<Response> {
  const select = db.prepare<TaskRow, [id: string]>(
    "select *, (select text from label where number = model_label) as model from task where id = ?",
  );
  const app = new Hono();
  app.get("/status/:id", (context) => {
    const row = select.get(context.req.param("id"));
    if (row === null) return context.json({ code: 404 }, 404);
    const { id, status, progress, model, created_at } = row;
    return context.json({
      code: 200,
      message: "success",
      data: { task_id: id, status, progress, model, created_at },
    });
  });
  return (request) => app.fetch(request);
}

interface TaskRow {
  readonly id: string;
  readonly status: string;
  readonly progress: number;
  readonly model: string;
  readonly created_at: number;
}

/** The least that passes a call on: its body is read and sent, and what comes is the answer. */
async function forward(upstream: string, request: Request): Promise<Response> {
  const headers = { "Content-Type": "application/json", Authorization: "Bearer sk-bench" };
  const response = await fetch(upstream, { method: "POST", headers, body: await request.text() });
  return new Response(await response.text(), { headers: { "Content-Type": "application/json" } });
}

/** The same between two durable writes. A copy of the template is inserted in each. */
function forwardingStored(upstream: string, db: Database, template: string) {
  const commit = prepareGroup(db);
  const insert = prepareCopy(db, template);
  return async (request: Request): Promise<Response> => {
    if (request.method !== "POST") return new Response("ready");
    await commit(() => insert(newId()));
    const response = await forward(upstream, request);
    await commit(() => insert(newId()));
    return response;
  };
}

function prepareInsert(db: Database, template: string): () => Promise<string> {
  const commit = prepareGroup(db);
  const insert = prepareCopy(db, template);
  return async () => {
    const id = newId();
    await commit(() => insert(id));
    return id;
  };
}

/** The template's own insert, under another id and at another time. */
function prepareCopy(db: Database, template: string): (id: string) => void {
  const row = db
    .query<Record<string, string | number | null>, [string]>("select * from task where id = ?")
    .get(template);
  if (row === null) throw new Error(`There is no task ${template} to copy.`);
  const columns = Object.keys(row).filter((name) => row[name] !== null && name !== "number");
  const insert = db.prepare(
    `insert into task (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`,
  );
  const values = columns.map((name) => row[name] ?? null);
  const [idAt, createdAt, dueAt] = [
    columns.indexOf("id"),
    columns.indexOf("created_at"),
    columns.indexOf("due_at"),
  ];
  return (id) => {
    values[idAt] = id;
    values[createdAt] = values[dueAt] = Date.now();
    insert.run(...values);
  };
}

/** @returns what runs a write; all those of one turn of the event loop are in one transaction */
function prepareGroup(db: Database): (write: () => void) => Promise<void> {
  const begin = db.prepare("begin immediate");
  const commit = db.prepare("commit");
  let waiting: { write: () => void; resolve: () => void }[] = [];

  function flush(): void {
    const batch = waiting;
    waiting = [];
    begin.run();
    for (const { write } of batch) write();
    commit.run();
    for (const { resolve } of batch) resolve();
  }

  return (write) =>
    new Promise((resolve) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ write, resolve });
    });
}

/** The template's own insert, one for each request on any of ten connections. */
function preparePostgresInsert(url: string, template: string): () => Promise<string> {
  const sql = new SQL({ url, max: 10 });
  async function prepare() {
    const [row] = await sql.unsafe("select * from task where id = $1", [template]);
    if (row === undefined) throw new Error(`There is no task ${template} to copy.`);
    const columns = Object.keys(row).filter((name) => row[name] !== null && name !== "number");
    const places = columns.map((_, i) => `$${i + 1}`);
    const text = `insert into task (${columns.join(", ")}) values (${places.join(", ")})`;
    return { text, columns, values: columns.map((name) => row[name]) };
  }
  const preparing = prepare();
  return async () => {
    const { text, columns, values } = await preparing;
    const id = newId();
    const own: Readonly<Record<string, string | number>> = { id, created_at: Date.now(), due_at: Date.now() };
    await sql.unsafe(
      text,
      columns.map((name, i) => own[name] ?? values[i]),
    );
    return id;
  };
}

/** As long as a real one, and in the order of time like it. */
function newId(): string {
  return `task_${Bun.randomUUIDv7().replaceAll("-", "").slice(0, 26)}`;
}

function open(path: string): Database {
  const db = new Database(path, { readwrite: true });
  for (const setting of SETTINGS) db.run(`pragma ${setting}`);
  return db;
}
