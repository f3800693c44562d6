import { suggest } from "../../domain/suggest.ts";
import { INPUT_ROLES } from "../../domain/task/request.ts";
import type { Path } from "../../toolkit/schema-problems.ts";
import { addressProblems } from "./address-problems.ts";
import { variablesOf } from "./auth.ts";
import { authPath, authsOf } from "./compiled-form.ts";
import type { FormProblem } from "./compiling.ts";
import type { AuthForm, Flow, Form } from "./form.ts";

/** Rules that the schema of forms cannot express: how the parts of a form must fit each other. */
export function consistencyProblems(form: Form): FormProblem[] {
  return [
    ...authsOf(form).flatMap((auth, i) => authProblems(auth, authPath(form, i))),
    ...flowsOf(form).flatMap(([flow, path]) => flowProblems(flow, path)),
    ...(form.flows === undefined ? [] : unreachableFlows(form.flows)),
    ...literalKeys(form),
    ...longTables(form.tables, ["tables"]),
    ...addressProblems(form),
  ];
}

/** Searching a table takes time for each entry of a list. */
const TABLE_MAX = 200;

function longTables(value: unknown, path: Path): FormProblem[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value) && value.length > TABLE_MAX)
    return [{ path, problem: `has more than ${TABLE_MAX} entries; write a mapping` }];
  return Object.entries(value).flatMap(([name, each]) => longTables(each, [...path, name]));
}

const KINDS = ["basic", "jwt", "oauth", "token", "aws_sigv4", "volc_v4"] as const;

function authProblems(auth: AuthForm, path: Path): FormProblem[] {
  const kinds = KINDS.filter((kind) => auth[kind] !== undefined);
  const isPlain = kinds.length === 0 && auth.none !== true;
  const problems: FormProblem[] = [];
  if (kinds.length > 1) problems.push({ path, problem: `has more than one of ${KINDS.join(", ")}` });
  if (isPlain && auth.header === undefined && auth.query === undefined)
    problems.push({ path, problem: `must have header or query, none: true, or one of ${KINDS.join(", ")}` });
  if (auth.none !== true && Object.keys(variablesOf(auth)).length === 0)
    problems.push({
      path,
      problem: "must name the variable of its key (key_env), or of each of its secrets (env)",
    });
  for (const name of Object.keys(variablesOf(auth)))
    if (RESERVED.has(name))
      problems.push({ path, problem: `calls a secret "${name}", which means something else here` });
  for (const variable of Object.values(variablesOf(auth)))
    if (variable.startsWith("SVC_"))
      problems.push({ path, problem: `names ${variable}, which is a variable of svc itself` });
  return problems;
}

/** Names that expressions of `auth` know besides, and settings of an account. */
const RESERVED: ReadonlySet<string> = new Set([
  ...["now", "region", "token", "assertion", "tables", "concurrency", "status", "headers", "body"],
]);

function flowsOf(form: Form): [Flow, Path][] {
  const own = Object.entries(form.flows ?? {}).map(([name, flow]): [Flow, Path] => [flow, ["flows", name]]);
  return [[form, []], ...own];
}

function flowProblems(flow: Flow & Pick<Form, "prepare">, path: Path): FormProblem[] {
  const prepare = flow.prepare ?? [];
  const gifts = prepare.flatMap(({ gives }, i) =>
    Object.keys(gives)
      .filter((name) => OF_FILES.has(name))
      .map((name): FormProblem => {
        const at = [...path, "prepare", i, "gives", name];
        return { path: at, problem: "is what files have already; choose another name", isKey: true };
      }),
  );
  const roles = prepare.flatMap(({ roles: own }, i) =>
    own.flatMap((role, k): FormProblem[] => {
      const known: readonly string[] = INPUT_ROLES;
      if (known.includes(role)) return [];
      const near = suggest(role, known);
      const hint = near === undefined ? `; known: ${known.join(", ")}` : `; did you mean "${near}"?`;
      return [{ path: [...path, "prepare", i, "roles", k], problem: `is no role of an input${hint}` }];
    }),
  );
  return [...gifts, ...roles];
}

/** Members of a file by which it is known. */
const OF_FILES: ReadonlySet<string> = new Set(["content", "role", "__proto__"]);

/** A flow after one that takes every request. */
function unreachableFlows(flows: NonNullable<Form["flows"]>): FormProblem[] {
  const names = Object.keys(flows);
  const all = names.findIndex((name) => flows[name]?.when === undefined);
  const after = all === -1 ? [] : names.slice(all + 1);
  return after.map((name) => ({
    path: ["flows", name],
    problem: `is never taken, because "${names[all]}" before it has no \`when\``,
    isKey: true,
  }));
}

/** The formats of keys of well-known services. */
const KEY_LIKE = /\b(?:sk|pk|rk|key|r8|AIza|AKIA|xai)[-_]?[A-Za-z0-9_-]{20,}\b/;

/** A key written into the file instead of the name of its variable. */
function literalKeys({ auth, headers }: Form): FormProblem[] {
  const problem = "holds what looks like a key; write ${key}, and name the variable of the key in key_env";
  const visit = (value: unknown, path: Path): FormProblem[] => {
    if (typeof value === "string") return KEY_LIKE.test(value) ? [{ path, problem }] : [];
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([name, each]) => visit(each, [...path, name]));
  };
  return [...visit(auth, ["auth"]), ...visit(headers, ["headers"])];
}
