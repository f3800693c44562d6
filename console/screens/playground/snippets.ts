import { newIdempotencyKey } from "../../api/ask.ts";
import { type Body, mapTexts } from "./request.ts";
import {
  type InlineFile,
  json,
  type Parts,
  pythonLiteral,
  type Snippet,
  type Written,
} from "./snippet-parts.ts";
import { compatible } from "./snippets-openai.ts";

/** The same request in every way that takes it. The key is a variable of the environment. */
export function snippetsOf(written: Written): Snippet[] {
  const { body, files } = withoutFiles(written);
  const parts: Parts = { ...written, body, files };
  return [
    { title: "curl", text: curl(parts) },
    { title: "JavaScript", text: javascript(parts) },
    { title: "Python", text: python(parts) },
    ...compatible(parts),
    { title: "svc", text: svc(parts) },
  ];
}

/** Puts a mark in place of every file's content. */
function withoutFiles({ body, names }: Written): { body: Body; files: ReadonlyMap<string, InlineFile> } {
  const files = new Map<string, InlineFile>();
  // A text of the reader's cannot be the mark by chance.
  const salt = newIdempotencyKey();
  const marked = mapTexts(body, (text) => {
    const head = /^data:[a-z0-9/+.-]+;base64,/.exec(text)?.[0];
    if (head === undefined) return text;
    const mark = `${salt}-${files.size}`;
    files.set(mark, { head, name: fileName(names.get(text), head, files.size + 1) });
    return mark;
  });
  return { body: marked as Body, files };
}

/** A name that is safe in every language and shell. */
export function fileName(name: string | undefined, head: string, number: number): string {
  const type = /^data:[a-z]+\/([a-z0-9]+)/.exec(head)?.[1] ?? "bin";
  const stem = (name ?? "").replace(/\.[A-Za-z0-9]{1,5}$/, "").replace(/[^A-Za-z0-9_]+/g, "-");
  return `${stem.replace(/^-+|-+$/g, "").slice(0, 60) || `input-${number}`}.${type}`;
}

const address = ({ root, kind }: Pick<Parts, "root" | "kind">, what: string) => `${root}v1/${kind}s/${what}`;

function curl(parts: Parts): string {
  const { body, files } = parts;
  let text = json(body, 2);
  // With a file in it, the shell reads the text, and what means something to it is escaped.
  if (files.size > 0) text = text.replace(/[\\$`]/g, "\\$&");
  for (const [mark, { name, head }] of files)
    text = text.replace(mark, `${head}$(base64 < ${name} | tr -d '\\n')`);
  return `curl -sS ${address(parts, "generations")} \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  --data-binary @- <<${files.size > 0 ? "END" : "'END'"}
${text}
END

# The answer names the task. Its result, with that id:
# curl -sS "${address(parts, "status/TASK_ID?wait=60")}" -H "Authorization: Bearer $SVC_API_KEY"
`;
}

/** The body in a language whose texts are written as JSON has them. */
function literal(parts: Parts, indent: string, file: (file: InlineFile) => string): string {
  let text = json(parts.body, 2).replaceAll("\n", `\n${indent}`);
  for (const [mark, each] of parts.files) text = text.replace(`"${mark}"`, () => file(each));
  return text;
}

function javascript(parts: Parts): string {
  const body = literal(
    parts,
    "  ",
    ({ name, head }) => `${json(head)} + (await readFile(${json(name)}, "base64"))`,
  );
  const read = parts.files.size > 0 ? 'import { readFile } from "node:fs/promises";\n\n' : "";
  return `${read}const headers = {
  Authorization: \`Bearer \${process.env.SVC_API_KEY}\`,
  "Content-Type": "application/json",
};

async function ask(url, request) {
  const response = await fetch(url, { headers, ...request });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message ?? answer.error?.message);
  return answer.data;
}

const { task_id } = await ask(${json(address(parts, "generations"))}, {
  method: "POST",
  body: JSON.stringify(${body}),
});
let task;
do task = await ask(\`${address(parts, "status/${task_id}?wait=60")}\`);
while (["pending", "processing"].includes(task.status));
console.log(task.status, task.result ?? task.${parts.kind === "image" ? "error_message" : "error"});
`;
}

function python(parts: Parts): string {
  const imports =
    parts.files.size > 0 ? "import base64\nimport os\nfrom pathlib import Path\n" : "import os\n";
  return `${imports}
import requests

session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['SVC_API_KEY']}"


def ask(method, url, **request):
    response = session.request(method, url, **request)
    answer = response.json()
    if not response.ok:
        raise RuntimeError(answer.get("message") or answer["error"]["message"])
    return answer["data"]


made = ask(
    "POST",
    ${json(address(parts, "generations"))},
    json=${pythonLiteral(parts, parts.body, "    ")},
)
status_url = ${json(address(parts, "status/"))} + made["task_id"]
while True:
    task = ask("GET", status_url, params={"wait": 60})
    if task["status"] not in ("pending", "processing"):
        break
print(task["status"], task.get("result") or task.get("${parts.kind === "image" ? "error_message" : "error"}"))
`;
}

function svc({ root, kind, body, files }: Parts): string {
  const { model, prompt, ...rest } = body;
  const inputs = Object.entries(rest).flatMap(([name, value]) =>
    (Array.isArray(value) && value.some((each) => files.has(String(each))) ? value : [value]).map((each) =>
      input(name, each, files),
    ),
  );
  const isPlain = typeof prompt === "string" && !/^[-@]/.test(prompt);
  const words = isPlain ? [shell(prompt)] : [];
  if (!isPlain && prompt !== undefined) inputs.unshift(`prompt:=${json(prompt)}`);
  const lines = [
    ["svc", kind, ...words].join(" "),
    `--server ${shell(root.replace(/\/$/, ""))}`,
    `--model ${shell(String(model))}`,
    ...inputs.map((each) => `--input ${shell(each)}`),
  ];
  return `# It reads the key in SVC_API_KEY.\n${lines.join(" \\\n  ")}\n`;
}

function input(name: string, value: unknown, files: Parts["files"]): string {
  const file = typeof value === "string" ? files.get(value) : undefined;
  if (file !== undefined) return `${name}=@${file.name}`;
  const isPlain = typeof value === "string" ? !/^[@[{]/.test(value) : typeof value !== "object";
  return isPlain ? `${name}=${String(value)}` : `${name}:=${json(value)}`;
}

function shell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
