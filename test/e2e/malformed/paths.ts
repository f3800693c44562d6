import {
  among,
  type Malformed,
  NO_TASK,
  NOTHING_THERE,
  type Refusal,
  type Sent,
  type Target,
} from "./request.ts";

const UNKNOWN_TASK = "task_01jd0000000000000000000000";
const NOT_ALLOWED = { status: 405, code: "method_not_allowed" } as const;
const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16" } as const;

/** Paths, methods, queries and ids that name nothing, or not what they seem to. */
export function malformedPaths(target: Target): Malformed[] {
  const operator: Sent = { headers: [["Authorization", `Bearer ${target.managementToken}`]] };
  return [
    ...paths(),
    ...among({ envelope: "compatible" }, compatPaths()),
    ...methods(),
    ...ids(),
    ...queries(),
    ...among(operator, operatorPaths()),
  ];
}

const at = (path: string, refusal: Refusal = NOTHING_THERE): Malformed => ({
  name: path.slice(0, 70),
  path,
  ...refusal,
});

function paths(): Malformed[] {
  return [
    ...[
      "/v1/",
      "/v1/Models",
      "/V1/models",
      "/v1/model/",
      "/v1/models;v=1",
      "/v1%2Fmodels",
      "/v1/models%00",
      "/v1/models%20",
    ],
    ...[
      "/v1/models%0d%0aX-Evil:%201",
      "/v1/mod%65lz/",
      "/v1/%c0%afmodels",
      "/v1/%",
      "/v1/%zz",
      "/v1/%ff",
      "/v2/models",
      "/admin",
      "/admin/v1",
    ],
    ...[
      "/%2e%2e/%2e%2e/etc/passwd",
      "/..%2f..%2fetc%2fpasswd",
      "/.env",
      "/.git/config",
      "/svc.db",
      "/svc-data/svc.db",
      "/bootstrap.json",
    ],
    ...[
      "/assets",
      "/assets/",
      "/assets/x",
      "/assets/..%2f..%2fsvc.db",
      "/assets/%2e%2e%2fsvc.db",
      "/assets/....//svc.db",
      "/assets/tmp%2fx",
    ],
    ...[
      "/assets/asset_00000000000000000000000000",
      "/assets/asset_00000000000000000000000000.png%00.html",
      "/assets/sha256/00/00/x",
    ],
    ...[
      "/assets/ASSET_00000000000000000000000000.PNG",
      `/assets/${"Z".repeat(5000)}`,
      "/assets/asset_%00",
      "/assets/%F0%9F%98%80",
    ],
    ...[
      `/${"Z".repeat(8000)}`,
      `/${"a/".repeat(2000)}`,
      `/${"%2e%2e/".repeat(500)}x`,
      "/v1/tasks/x/y/z",
      "/v1/images/status",
    ],
    ...["/healthz/x/", "/readyz/x", "/metrics/../v1", "/wp-login.php", "/v1/images/generations/x"],
  ].map((path) => at(path));
}

function compatPaths(): Malformed[] {
  const model = { status: 404, code: "model_not_found", param: "model" };
  return [
    ...[
      "/compat/x/",
      "/compat/v1/",
      "/compat/v1/images",
      "/compat/v1/images/variation",
      "/compat/v1/images/generation/",
    ].map((path) => at(path)),
    ...["/compat/v2/models", "/compat/v1/chat/completions", "/compat/v1/Models", "/compat/v1/%2e%2e/x"].map(
      (path) => at(path),
    ),
    at("/compat/v1/models/nothing", model),
    at("/compat/v1/models/__proto__", model),
    at("/compat/v1/models/%00", model),
    at(`/compat/v1/models/${"Z".repeat(150)}`, model),
    at("/compat/v1/models/sandbox-image%2f..", model),
    ...["/compat/v1/videos/x", "/compat/v1/videos/x/content", "/compat/v1/videos/%00"].map((path) =>
      at(path, NO_TASK),
    ),
    at("/compat/v1/videos/x/frames"),
    { ...at("/compat/v1/videos/x/remix", NOT_ALLOWED), says: "POST" },
    { ...at("/compat/v1/images/generations", NOT_ALLOWED), says: "POST" },
    { ...at("/compat/v1/images/edits", NOT_ALLOWED), says: "POST" },
    {
      name: "DELETE of a compatible path",
      path: "/compat/v1/models",
      method: "DELETE",
      ...NOT_ALLOWED,
      says: "GET",
    },
  ];
}

function methods(): Malformed[] {
  const asked = (method: string, path: string, says: string): Malformed => ({
    name: `${method} ${path}`,
    method,
    path,
    says,
    ...NOT_ALLOWED,
  });
  return [
    ...["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"].map((method) =>
      asked(method, "/v1/images/generations", "POST"),
    ),
    ...["POST", "PUT", "DELETE", "CONNECT", "LOCK"].map((method) => asked(method, "/v1/models", "GET")),
    asked("POST", "/v1/tasks", "GET"),
    asked("DELETE", `/v1/tasks/${UNKNOWN_TASK}/cancel`, "POST"),
    asked("POST", `/v1/tasks/${UNKNOWN_TASK}/events`, "GET"),
    asked("PUT", `/v1/videos/status/${UNKNOWN_TASK}`, "GET"),
    asked("POST", "/assets/x.png", "GET"),
    asked("DELETE", "/healthz", "GET"),
    { ...asked("GET", "/v1/images/generations?x=1", "POST"), name: "GET with a query" },
    { name: "a body with GET", path: "/v1/images/generations", method: "GET", body: IMAGE, ...NOT_ALLOWED },
  ];
}

function ids(): Malformed[] {
  const ids = [
    ...[
      "task_",
      "task_0",
      "TASK_01JD0000000000000000000000",
      "task_81jd0000000000000000000000",
      "task_01jd000000000000000000000il",
    ],
    ...[
      "task_01jd000000000000000000000%00",
      "%20task_01jd0000000000000000000000",
      "..%2f..",
      "' OR 1=1--",
      "%27%20OR%201=1--",
    ],
    ...[
      "key_01jd0000000000000000000000",
      "__proto__",
      "constructor",
      "null",
      "%F0%9F%98%80",
      "%ff",
      "Z".repeat(4000),
    ],
  ].filter((id) => !id.includes(" "));
  return ids.flatMap((id) => [
    at(`/v1/images/status/${id}`, NO_TASK),
    at(`/v1/videos/status/${id}?wait=0`, NO_TASK),
    at(`/v1/tasks/${id}/events`, NO_TASK),
    {
      ...at(`/v1/tasks/${id}/cancel`, NO_TASK),
      name: `POST /v1/tasks/${id.slice(0, 50)}/cancel`,
      method: "POST",
    },
  ]);
}

function queries(): Malformed[] {
  const status = (query: string): Malformed => ({
    ...at(`/v1/images/status/${UNKNOWN_TASK}?${query}`, { param: "wait" }),
    name: `status?${query.slice(0, 40)}`,
  });
  const list = (query: string, param: string): Malformed => ({
    ...at(`/v1/tasks?${query}`, { param }),
    name: `/v1/tasks?${query.slice(0, 40)}`,
  });
  return [
    ...[
      "wait=NaN",
      "wait=Infinity",
      "wait=1e1",
      "wait=0x1",
      "wait=-60.1",
      "wait=",
      "wait=%00",
      "wait=1,0",
      "wait=%2B1",
      "wait=1s",
      `wait=${"9".repeat(400)}x`,
      `wait=${"Z".repeat(500)}`,
    ].map(status),
    ...[
      "limit=-1",
      "limit=1.5",
      "limit=NaN",
      "limit=ten",
      "limit=1e9",
      "limit=%00",
      "limit=",
      "limit=0x10",
      "limit=%201",
      "limit=+5",
    ].map((query) => list(query, "limit")),
    ...[
      "after=",
      "after=%00",
      "after=task_",
      "after=..%2f",
      `after=${"Z".repeat(500)}`,
      "after=key_01jd0000000000000000000000",
    ].map((query) => list(query, "after")),
    ...["kind=", "kind=IMAGE", "kind=__proto__"].map((query) => list(query, "kind")),
    ...["status=", "status=COMPLETED", "status=constructor", "status=completed%00"].map((query) =>
      list(query, "status"),
    ),
    list("limit=5&limit=500", "limit"),
  ];
}

function operatorPaths(): Malformed[] {
  return [
    ...[
      "/admin/v1/",
      "/admin/v1/key/",
      "/admin/v1/Keys",
      "/admin/v1/keys/x/y",
      "/admin/v1/users",
      "/admin/v1/keys/x/rotates/",
    ].map((path) => at(path)),
    { name: "DELETE /admin/v1/keys", path: "/admin/v1/keys", method: "DELETE", ...NOT_ALLOWED },
    { name: "PUT /admin/v1/accounts", path: "/admin/v1/accounts", method: "PUT", ...NOT_ALLOWED },
    { name: "GET /admin/v1/keys/x/revoke", path: "/admin/v1/keys/x/revoke", ...NOT_ALLOWED },
  ];
}
