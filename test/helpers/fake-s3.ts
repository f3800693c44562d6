import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { refusalOf, type Signer } from "./fake-s3-signature.ts";

/** What goes wrong with a request. */
export type Fault =
  | { readonly status: number; readonly code: string; readonly message?: string }
  /** Nothing is done, and the connection breaks. */
  | "broken"
  /** Everything is done, and the connection breaks before the answer. */
  | "answer lost"
  /** The answer never comes. */
  | "silent"
  /** Half of the body comes, and the connection breaks. */
  | "cut"
  /** One bit of the body is another: of an upload as it is stored, or of an answer. */
  | "flipped"
  /** One bit of a request's body changes on its way. */
  | "changed"
  /** The request is taken up so late. */
  | { readonly delayMs: number };

export interface S3Request {
  readonly method: string;
  /** Without the bucket. */
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  /** `PutObject` and so on. */
  readonly operation: string;
}

export interface StoredObject {
  bytes: Buffer;
  readonly etag: string;
  readonly checksum: string | undefined;
  storedAt: number;
  readonly type: string;
}

interface Upload {
  readonly key: string;
  readonly type: string;
  begunAt: number;
  readonly parts: Map<number, { bytes: Buffer; etag: string; checksum: string }>;
}

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
}

export const KEYS = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
};

export type FakeS3 = Awaited<ReturnType<typeof startFakeS3>>;

/** A strict S3 service in memory: signatures, hashes, conditions, parts and lists are checked as Amazon checks them. */
export async function startFakeS3(
  options: { now?: () => number; port?: number; minPartBytes?: number; region?: string } = {},
) {
  const { now = Date.now, port = 0, minPartBytes = 5 * 1024 * 1024, region = "eu-test-1" } = options;
  const signer: Signer = { ...KEYS, region };
  const state = {
    objects: new Map<string, StoredObject>(),
    uploads: new Map<string, Upload>(),
    requests: [] as S3Request[],
    fault: (_: S3Request): Fault | undefined | Promise<Fault | undefined> => undefined,
    /** What the service does not implement. */
    lacks: [] as ("checksum" | "condition" | "range")[],
    /** Lists begin with the first object whatever `start-after` says, as those of directory buckets do. */
    beginsListsAnew: false,
    hasBucket: true,
  };
  let uploadIds = 0;

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of message) pieces.push(piece as Buffer);
    const url = new URL(message.url ?? "/", `http://${message.headers.host}`);
    const [, bucket, ...rest] = decodeURIComponent(url.pathname).split("/");
    const headers = message.headers as S3Request["headers"];
    const method = message.method ?? "GET";
    const body = Buffer.concat(pieces);
    const given = { method, key: rest.join("/"), query: url.searchParams, headers, body };
    const request = { ...given, operation: operationOf(given) };
    state.requests.push(request);
    const fault = await state.fault(request);
    if (fault === "broken") return void message.socket.destroy();
    if (fault === "silent") return;
    if (typeof fault === "object" && "delayMs" in fault) await Bun.sleep(fault.delayMs);
    const arrived = fault === "changed" ? flip(body) : body;
    const refusal = refusalOf({ method, url, headers, body: arrived }, signer, now());
    let answer: Answer;
    if (typeof fault === "object" && "status" in fault)
      answer = failure(fault.status, fault.code, fault.message);
    else if (refusal !== undefined) answer = failure(...refusal, region);
    else if (bucket !== "media" || !state.hasBucket) answer = failure(404, "NoSuchBucket");
    else answer = perform(fault === "flipped" ? { ...request, body: flip(body) } : request);
    if (fault === "answer lost") return void message.socket.destroy();
    send(
      response,
      request,
      fault === "flipped" && method === "GET" ? { ...answer, body: flip(answer.body) } : answer,
      fault,
    );
  }

  function send(
    response: ServerResponse,
    { method }: S3Request,
    answer: Answer,
    fault: Fault | undefined,
  ): void {
    const bytes = Buffer.from(answer.body ?? "");
    const length = answer.headers?.["Content-Length"] ?? String(bytes.length);
    const date = new Date(now()).toUTCString();
    response.writeHead(answer.status, { Date: date, ...answer.headers, "Content-Length": length });
    if (fault === "cut") {
      response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)));
      setTimeout(() => response.socket?.destroy(), 20);
    } else response.end(method === "HEAD" ? undefined : bytes);
  }

  function perform(request: S3Request): Answer {
    const { operation, key, headers, query } = request;
    for (const [what, name] of [
      ["checksum", "x-amz-checksum-sha256"],
      ["condition", "if-none-match"],
      ["condition", "if-match"],
    ] as const)
      if (headers[name] !== undefined && state.lacks.includes(what)) return failure(501, "NotImplemented");
    const object = state.objects.get(key);
    switch (operation) {
      case "PutObject":
        return putObject(request);
      case "CopyObject":
        return copyObject(request);
      case "GetObject":
      case "HeadObject":
        return object === undefined ? failure(404, "NoSuchKey") : readObject(request, object);
      case "DeleteObject":
        state.objects.delete(key);
        return { status: 204 };
      case "ListObjectsV2":
        return { status: 200, body: listObjects(query) };
      case "ListMultipartUploads":
        return { status: 200, body: listUploads(query) };
      case "CreateMultipartUpload": {
        const id = `upload-${++uploadIds}`;
        state.uploads.set(id, { key, type: headers["content-type"] ?? "", begunAt: now(), parts: new Map() });
        return {
          status: 200,
          body: `<R><Bucket>media</Bucket><Key>${key}</Key><UploadId>${id}</UploadId></R>`,
        };
      }
      default:
        return performPart(request);
    }
  }

  function performPart(request: S3Request): Answer {
    const { operation, query, body, headers } = request;
    const id = query.get("uploadId") ?? "";
    const upload = state.uploads.get(id);
    if (upload === undefined || upload.key !== request.key) return failure(404, "NoSuchUpload");
    if (operation === "AbortMultipartUpload") {
      state.uploads.delete(id);
      return { status: 204 };
    }
    if (operation === "CompleteMultipartUpload") return complete(request, id, upload);
    const checksum = base64(body);
    const asked = headers["x-amz-checksum-sha256"];
    if (asked !== undefined && asked !== checksum) return failure(400, "BadDigest");
    const etag = `"${md5(body)}"`;
    upload.parts.set(Number(query.get("partNumber")), { bytes: body, etag, checksum });
    return {
      status: 200,
      headers: { ETag: etag, ...(asked !== undefined && { "x-amz-checksum-sha256": checksum }) },
    };
  }

  function complete(request: S3Request, id: string, { key, type, parts }: Upload): Answer {
    if (request.headers["if-none-match"] === "*" && state.objects.has(key))
      return failure(412, "PreconditionFailed");
    const listed = Array.from(
      request.body
        .toString()
        .matchAll(
          /<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>(?:<ChecksumSHA256>([^<]*)<\/ChecksumSHA256>)?/g,
        ),
    );
    const chosen = listed.map(([, number, tag, checksum]) => {
      const part = parts.get(Number(number));
      const isSame = part?.etag === tag?.replace(/&#34;|&quot;/g, '"');
      return isSame && (checksum === undefined || checksum === part?.checksum) ? part : undefined;
    });
    if (chosen.length === 0 || chosen.includes(undefined)) return failure(400, "InvalidPart");
    const whole = chosen.flatMap((part) => part ?? []);
    if (whole.slice(0, -1).some(({ bytes }) => bytes.length < minPartBytes))
      return failure(400, "EntityTooSmall");
    const digest = createHash("sha256");
    for (const { checksum } of whole) digest.update(Buffer.from(checksum, "base64"));
    const bytes = Buffer.concat(whole.map((part) => part.bytes));
    const etag = `"${md5(bytes)}-${whole.length}"`;
    const checksum = `${digest.digest("base64")}-${whole.length}`;
    state.objects.set(key, { bytes, etag, checksum, storedAt: now(), type });
    state.uploads.delete(id);
    return { status: 200, body: `<R><ETag>${etag}</ETag><ChecksumSHA256>${checksum}</ChecksumSHA256></R>` };
  }

  function copyObject({ key, headers }: S3Request): Answer {
    const source = state.objects.get((headers["x-amz-copy-source"] ?? "").replace(/^\/media\//, ""));
    if (source === undefined) return failure(404, "NoSuchKey");
    if (headers["x-amz-metadata-directive"] !== "REPLACE") return failure(400, "InvalidRequest");
    state.objects.set(key, { ...source, storedAt: now(), type: headers["content-type"] ?? "" });
    return { status: 200, body: "<CopyObjectResult></CopyObjectResult>" };
  }

  function putObject({ key, headers, body }: S3Request): Answer {
    if (headers["if-none-match"] === "*" && state.objects.has(key)) return failure(412, "PreconditionFailed");
    const match = headers["if-match"];
    if (match !== undefined && !state.objects.has(key)) return failure(404, "NoSuchKey");
    if (match !== undefined && state.objects.get(key)?.etag !== match)
      return failure(412, "PreconditionFailed");
    const checksum = base64(body);
    const asked = headers["x-amz-checksum-sha256"];
    const etag = `"${md5(body)}"`;
    const kept = asked === undefined ? undefined : checksum;
    state.objects.set(key, {
      bytes: body,
      etag,
      checksum: kept,
      storedAt: now(),
      type: headers["content-type"] ?? "",
    });
    return {
      status: 200,
      headers: { ETag: etag, ...(kept !== undefined && { "x-amz-checksum-sha256": kept }) },
    };
  }

  function readObject({ headers, query }: S3Request, object: StoredObject): Answer {
    const { bytes, etag, checksum, storedAt } = object;
    const [, from = "", to = ""] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
    const isPart = from !== "" && !state.lacks.includes("range");
    if (isPart && Number(from) >= bytes.length) return failure(416, "InvalidRange");
    const body = isPart ? bytes.subarray(Number(from), to === "" ? undefined : Number(to) + 1) : bytes;
    const withChecksum = headers["x-amz-checksum-mode"] === "ENABLED" && checksum !== undefined;
    return {
      status: isPart ? 206 : 200,
      headers: {
        ETag: etag,
        "Content-Length": String(body.length),
        "Content-Type": query.get("response-content-type") ?? object.type,
        "Last-Modified": new Date(storedAt).toUTCString(),
        ...(isPart && { "Content-Range": `bytes ${from}-${Number(from) + body.length - 1}/${bytes.length}` }),
        ...(withChecksum && { "x-amz-checksum-sha256": checksum }),
      },
      body,
    };
  }

  function listObjects(query: URLSearchParams): string {
    const after = state.beginsListsAnew ? "" : (query.get("start-after") ?? "");
    const keys = [...state.objects.keys()]
      .filter((key) => key.startsWith(query.get("prefix") ?? "") && key > after)
      .sort();
    const page = keys.slice(0, 1000).map((key) => {
      const { bytes, storedAt } = state.objects.get(key)!;
      return `<Contents><Key>${key}</Key><LastModified>${new Date(storedAt).toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`;
    });
    return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${keys.length > 1000}</IsTruncated>${page.join("")}</ListBucketResult>`;
  }

  function listUploads(query: URLSearchParams): string {
    const after = [query.get("key-marker") ?? "", query.get("upload-id-marker") ?? ""] as const;
    const found = [...state.uploads]
      .map(([id, upload]) => ({ ...upload, id }))
      .filter(({ key }) => key.startsWith(query.get("prefix") ?? ""))
      .filter(({ key, id }) => key > after[0] || (key === after[0] && id > after[1]))
      .sort((one, other) =>
        one.key === other.key ? (one.id < other.id ? -1 : 1) : one.key < other.key ? -1 : 1,
      );
    const page = found.slice(0, 1000);
    const entries = page.map(
      ({ id, key, begunAt }) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${new Date(begunAt).toISOString()}</Initiated></Upload>`,
    );
    const last = page.at(-1);
    const isTruncated = found.length > page.length;
    const next = isTruncated
      ? `<NextKeyMarker>${last?.key}</NextKeyMarker><NextUploadIdMarker>${last?.id}</NextUploadIdMarker>`
      : "";
    return `<ListMultipartUploadsResult><IsTruncated>${isTruncated}</IsTruncated>${next}${entries.join("")}</ListMultipartUploadsResult>`;
  }

  const server = createServer((message, response) => {
    handle(message, response).catch(() => message.socket.destroy());
  });
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return Object.assign(state, {
    endpoint: `http://127.0.0.1:${address.port}`,
    region,
    operations: () => state.requests.map(({ operation }) => operation),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  });
}

function operationOf({ method, key, query, headers }: Omit<S3Request, "operation">): string {
  if (key === "")
    return query.has("uploads") ? "ListMultipartUploads" : method === "GET" ? "ListObjectsV2" : "HeadBucket";
  if (query.has("uploads")) return "CreateMultipartUpload";
  if (query.has("uploadId"))
    return { PUT: "UploadPart", POST: "CompleteMultipartUpload" }[method] ?? "AbortMultipartUpload";
  if (headers["x-amz-copy-source"] !== undefined) return "CopyObject";
  return { PUT: "PutObject", GET: "GetObject", HEAD: "HeadObject" }[method] ?? "DeleteObject";
}

function failure(status: number, code: string, message = "It was refused.", region = ""): Answer {
  const where = code === "AuthorizationHeaderMalformed" ? `<Region>${region}</Region>` : "";
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message>${where}</Error>`;
  return { status, headers: { "Content-Type": "application/xml" }, body };
}

function flip(body: Buffer | string | undefined): Buffer {
  const bytes = Buffer.from(body ?? "");
  if (bytes.length > 0) bytes[bytes.length >> 1]! ^= 1;
  return bytes;
}

const base64 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("base64");
const md5 = (bytes: Buffer) => createHash("md5").update(bytes).digest("hex");
