import { BOUNDARY, formBody, multipartType } from "./form.ts";
import {
  among,
  type Header,
  type Malformed,
  rawRequest,
  type Sent,
  type Target,
  TOO_LARGE,
} from "./request.ts";

const BODY = '{"model":"sandbox-image","prompt":"x","nope":1}';
const CREATE = "/v1/images/generations";
const CHUNKED: Header = ["Transfer-Encoding", "chunked"];
/** Above the 32 MB that a JSON body may have. */
const MANY_PIECES = 33;
const MIB = 1024 * 1024;

/** Bodies whose length is not what the headers say, as far as the answer is the service's own. */
export function malformedFraming(): Malformed[] {
  const length = (value: string): Pick<Malformed, "headers" | "body"> => ({
    headers: [["Content-Length", value]],
    body: BODY,
  });
  const chunked = (body: string | Uint8Array): Pick<Malformed, "headers" | "without" | "body"> => ({
    headers: [CHUNKED],
    without: ["content-length"],
    body,
  });
  const piece = `${MIB.toString(16)}\r\n${"x".repeat(MIB)}\r\n`;
  return among({ path: CREATE }, [
    { name: "a Content-Length that is too short", ...length("5"), says: "JSON" },
    { name: "a Content-Length of nothing", ...length("0"), says: "JSON" },
    {
      name: "a Content-Length above the limit",
      ...length("32000001"),
      ...TOO_LARGE,
      says: "larger than 32 MB",
    },
    {
      name: "a Content-Length given twice, the same",
      headers: [length(String(BODY.length)), length(String(BODY.length))].flatMap(
        ({ headers = [] }) => headers,
      ),
      body: BODY,
      param: "nope",
    },
    { name: "neither length nor chunks", body: BODY, without: ["content-length"], says: "JSON" },
    { name: "no chunks", ...chunked("0\r\n\r\n"), says: "JSON" },
    { name: "a chunk of half an object", ...chunked('7\r\n{"model\r\n0\r\n\r\n'), says: "JSON" },
    { name: "chunks with an extension", ...chunked("2;x=y\r\n{}\r\n0\r\n\r\n"), param: "model" },
    {
      name: "33 MB in chunks",
      ...chunked(`${piece.repeat(MANY_PIECES)}0\r\n\r\n`),
      ...TOO_LARGE,
      says: "1000000 bytes besides",
    },
    {
      name: "something behind the body",
      headers: [["Content-Length", String(BODY.length)]],
      body: `${BODY}nonsense`,
      param: "nope",
    },
    { name: "an expectation nobody has", headers: [["Expect", "nonsense"]], body: BODY, param: "nope" },
    {
      name: "an upgrade to HTTP/2",
      headers: [
        ["Upgrade", "h2c"],
        ["HTTP2-Settings", "AAAA"],
      ],
      body: BODY,
      param: "nope",
    },
    {
      name: "the address in full, on another host",
      path: `http://evil.example${CREATE}`,
      body: BODY,
      param: "nope",
    },
    {
      name: "an X-Request-ID of 10 KB",
      headers: [["X-Request-ID", "Z".repeat(10_000)]],
      body: BODY,
      param: "nope",
    },
    {
      name: "an X-Request-ID with markup",
      headers: [["X-Request-ID", "<script>"]],
      body: BODY,
      param: "nope",
    },
    {
      name: "an X-Request-ID in Latin-1",
      headers: [["X-Request-ID", "\xe9\xff"]],
      body: BODY,
      param: "nope",
    },
    {
      name: "two X-Request-IDs",
      headers: [
        ["X-Request-ID", "a"],
        ["X-Request-ID", "b"],
      ],
      body: BODY,
      param: "nope",
    },
  ]);
}

/**
 * Chunks and a field behind them. Bun's parser reads the field as the start of another request, and its bare refusal of that one
 * may come before the service's answer to this one.
 */
export function trailer(target: Target): Uint8Array {
  const body = "2\r\n{}\r\n0\r\nX-Trailer: y\r\n\r\n";
  return rawRequest(target, { path: CREATE, headers: [CHUNKED], without: ["content-length"], body });
}

/** A request that Bun's own parser answers before the service sees it: a status line, and nothing more. */
export interface BareRefusal {
  readonly name: string;
  readonly request: Uint8Array;
  readonly status: 400 | 413 | 431 | 505 | "closed";
}

/** What never reaches the service: no request id, no body, and the connection is closed. */
export function refusedByParser(target: Target): BareRefusal[] {
  const host: Header = ["Host", "x"];
  const create = (
    name: string,
    headers: readonly Header[],
    status: BareRefusal["status"],
    body = BODY,
  ): BareRefusal => ({
    name,
    request: rawRequest(target, { path: CREATE, headers, without: ["content-length"], body }),
    status,
  });
  const get = (name: string, headers: readonly Header[], status: BareRefusal["status"]): BareRefusal => ({
    name,
    request: rawRequest(target, { path: "/v1/models", headers }),
    status,
  });
  const raw = (name: string, text: string, status: BareRefusal["status"]): BareRefusal => ({
    name,
    request: Buffer.from(text, "latin1"),
    status,
  });
  const line = (start: string, status: BareRefusal["status"]) =>
    raw(JSON.stringify(start.slice(0, 40)), `${start}\r\nHost: x\r\n\r\n`, status);
  const lengths = ["-1", "NaN", "+5", "0x10", "1e1", "", "5, 5", "5 5", "9".repeat(23)];
  return [
    ...lengths.map((value) => create(`Content-Length: ${value}`, [["Content-Length", value]], 400)),
    create("Content-Length: 2^53 and 1", [["Content-Length", "9007199254740993"]], 413),
    create("Content-Length: 300 MB", [["Content-Length", "300000000"]], 413),
    create(
      "two different Content-Lengths",
      [
        ["Content-Length", "5"],
        ["Content-Length", "6"],
      ],
      400,
    ),
    create("Content-Length and chunks", [["Content-Length", "5"], CHUNKED], 400, "0\r\n\r\n"),
    ...["gzip", "identity", "gzip, chunked", "chunked, gzip", "xchunked", ""].map((coding) =>
      create(`Transfer-Encoding: ${coding}`, [["Transfer-Encoding", coding]], 400, "0\r\n\r\n"),
    ),
    create("chunked twice", [CHUNKED, CHUNKED], 400, "0\r\n\r\n"),
    ...["xyz", "-1", "0x5", "F".repeat(17), "", "5 5"].map((size) =>
      create(`a chunk of size ${JSON.stringify(size)}`, [CHUNKED], 400, `${size}\r\nabcde\r\n0\r\n\r\n`),
    ),
    create("a chunk that is longer than it says", [CHUNKED], 400, "2\r\n{}}\r\n0\r\n\r\n"),
    create("chunks with bare line feeds", [CHUNKED], 400, "2\n{}\n0\n\n"),
    get("a NUL in a header", [["X-A", "a\0b"]], 400),
    get("a CR in a header", [["X-A", "a\rb"]], 400),
    get("an LF in a header", [["X-A", "a\nX-Evil: b"]], 400),
    get("an LF in a request id", [["X-Request-ID", "a\nSet-Cookie: b"]], 400),
    get("a folded header", [["X-A", "a\r\n b"]], 400),
    get("a space before a colon", [["X-A ", "b"]], 400),
    get("a header name with @", [["X@A", "b"]], 400),
    get("a header without a name", [["", "b"]], 400),
    get(
      "300 headers",
      Array.from({ length: 300 }, (_, i): Header => [`X-${i}`, "b"]),
      431,
    ),
    get("a header of 20 KB", [["X-A", "Z".repeat(20_000)]], 431),
    get("a key of 100 KB", [["Authorization", `Bearer ${"Z".repeat(100_000)}`]], 431),
    { name: "no Host", request: rawRequest(target, { path: "/v1/models", without: ["host"] }), status: 400 },
    { name: "a path of 20 KB", request: rawRequest(target, { path: `/${"Z".repeat(20_000)}` }), status: 431 },
    {
      name: "a path without a slash",
      request: rawRequest(target, { path: "v1/models", headers: [host] }),
      status: 400,
    },
    line("GET /v1/models HTTP/2.0", 505),
    line("GET /v1/models HTTP/1.2", 505),
    line("GET /v1/models", 505),
    line("GET /v1/ models HTTP/1.1", 505),
    line("GET /v1/\0models HTTP/1.1", 505),
    line("GET /v1/\x01 HTTP/1.1", 505),
    line("G@T /v1/models HTTP/1.1", 400),
    line("OPTIONS * HTTP/1.1", 400),
    line("BREW /v1/models HTTP/1.1", "closed"),
    line("get /v1/models HTTP/1.1", "closed"),
    raw("a header without a colon", "GET /v1/models HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n", 400),
    raw("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    raw("a TLS greeting", "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03aaaaaaaaaaaaaaaa\r\n\r\n", 400),
    raw("noise", "\0\xff\0\xff\r\n\r\n", 400),
  ];
}

/** A request whose sender hangs up in the middle. */
export interface Abandoned {
  readonly name: string;
  /** Far enough for the service to see it. */
  readonly isSeen: boolean;
  readonly request: (requestId: string) => Uint8Array;
}

export function abandoned(target: Target): Abandoned[] {
  const picture = Buffer.alloc(2 * MIB, 0x5a);
  Buffer.from("\x89PNG\r\n\x1a\n", "latin1").copy(picture);
  const form = formBody([
    { name: "model", content: "sandbox-image" },
    { name: "prompt", content: "x" },
    { name: "image", filename: "a.png", content: picture },
  ]);
  const seen = (name: string, sent: (id: Header) => Sent): Abandoned => ({
    name,
    isSeen: true,
    request: (requestId) => rawRequest(target, sent(["X-Request-ID", requestId])),
  });
  const create = (name: string, headers: readonly Header[], body: string) =>
    seen(name, (id) => ({ path: CREATE, headers: [id, ...headers], without: ["content-length"], body }));
  const edit = (name: string, bytes: number) =>
    seen(name, (id) => ({
      path: "/compat/v1/images/edits",
      headers: [id, multipartType(BOUNDARY), ["Content-Length", String(form.length)]],
      body: form.subarray(0, bytes),
    }));
  const unseen = (name: string, text: string): Abandoned => ({
    name,
    isSeen: false,
    request: () => Buffer.from(text),
  });
  return [
    unseen("in its request line", "POST /v1/ima"),
    unseen("in its headers", "POST /v1/images/generations HTTP/1.1\r\nHost: x\r\nAutho"),
    create("before its body", [["Content-Length", "50"]], ""),
    create("in its body", [["Content-Length", "5000"]], BODY),
    create("in a chunk", [CHUNKED], "ff\r\n{"),
    create("between chunks", [CHUNKED], "1\r\n{\r\n"),
    edit("in the first boundary of a form", 10),
    edit("in a file", MIB),
    edit("before the last boundary of a form", form.length - BOUNDARY.length - 6),
  ];
}
