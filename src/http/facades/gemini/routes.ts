import { type CreateOrJoinDeps, createCreateOrJoin } from "../../../service/create-or-join.ts";
import { counted, type Endpoint, type Exchange, keyed, polled } from "../../exchange.ts";
import { json } from "../../reply.ts";
import { answerWithPictures, type CallDeps, type PictureMethod } from "./call.ts";
import { CANDIDATES, PREDICTIONS } from "./candidates.ts";
import { deleteFile, downloadFile, type FileDeps, listFiles, readFile } from "./files.ts";
import {
  beginFilm,
  cancelOperation,
  type FilmCallDeps,
  fetchOperation,
  readOperation,
} from "./films-call.ts";
import { type InteractionsDeps, interactionEndpoints } from "./interactions/routes.ts";
import { V1BETA } from "./manners.ts";
import { askedFor, listPage, presentModel } from "./model-names.ts";
import { readGenerateContent, readPredict } from "./pictures.ts";
import { createUploadSessions } from "./upload-sessions.ts";
import { beginUpload, continueUpload, UPLOADS, type UploadDeps } from "./uploads.ts";
import {
  BEGIN_UPLOAD,
  CANCEL_OPERATION,
  CANCEL_OPERATION_OF_MODEL,
  CONTINUE_UPLOAD,
  DELETE_FILE,
  DOWNLOAD_FILE,
  FETCH_OPERATION,
  GENERATE_CONTENT,
  LIST_FILES,
  LIST_MODELS,
  PREDICT,
  PREDICT_LONG_RUNNING,
  READ_FILE,
  READ_MODEL,
  READ_OPERATION,
  READ_OPERATION_OF_MODEL,
  STREAM_GENERATE_CONTENT,
} from "./wire.ts";

type Deps = CallDeps & FilmCallDeps & FileDeps & Omit<UploadDeps, "sessions"> & InteractionsDeps;

export type GeminiDeps = Omit<Deps, "createOrJoin"> & Omit<CreateOrJoinDeps, "equalCalls">;

const MODEL = `${V1BETA}/models/:model`;
const OPERATION = "operations/:operation";
const FILE = `${V1BETA}/files/:file`;
const PICTURES = { feature: "compat", isCounted: true, sheds: "creates" } as const;
const FILMS = { feature: "videos", isCounted: true, sheds: "creates" } as const;

const ratioName = "aspectRatio";
const CONTENT: PictureMethod = {
  ...{ verb: "generateContent", ratioName, answers: CANDIDATES, read: readGenerateContent },
};
const PREDICTION: PictureMethod = { verb: "predict", ratioName, answers: PREDICTIONS, read: readPredict };

/** Google's Gemini API (docs/facades.md): pictures while the caller waits, films as operations, and their files. */
export function geminiEndpoints(given: GeminiDeps): Endpoint[] {
  const deps: Deps = { ...given, createOrJoin: createCreateOrJoin(given) };
  return [
    keyed("POST", `${MODEL}:generateContent`, GENERATE_CONTENT, PICTURES, (exchange) =>
      answerWithPictures(deps, exchange, { method: CONTENT, form: "whole" }),
    ),
    keyed("POST", `${MODEL}:streamGenerateContent`, STREAM_GENERATE_CONTENT, PICTURES, (exchange) => {
      const form = exchange.query().get("alt") === "sse" ? "event" : "list";
      return answerWithPictures(deps, exchange, { method: CONTENT, form });
    }),
    keyed("POST", `${MODEL}:predict`, PREDICT, PICTURES, (exchange) =>
      answerWithPictures(deps, exchange, { method: PREDICTION, form: "whole" }),
    ),
    keyed("POST", `${MODEL}:predictLongRunning`, PREDICT_LONG_RUNNING, FILMS, (exchange) =>
      beginFilm(deps, exchange),
    ),
    keyed("POST", `${MODEL}:fetchPredictOperation`, FETCH_OPERATION, { sheds: "reads" }, (exchange) =>
      fetchOperation(deps, exchange),
    ),
    polled(
      `${MODEL}/${OPERATION}`,
      READ_OPERATION_OF_MODEL,
      (exchange) => readOperation(deps, exchange),
      "reads",
    ),
    polled(`${V1BETA}/${OPERATION}`, READ_OPERATION, (exchange) => readOperation(deps, exchange), "reads"),
    keyed("POST", `${MODEL}/${OPERATION}:cancel`, CANCEL_OPERATION_OF_MODEL, {}, (exchange) =>
      cancelOperation(deps, exchange),
    ),
    keyed("POST", `${V1BETA}/${OPERATION}:cancel`, CANCEL_OPERATION, {}, (exchange) =>
      cancelOperation(deps, exchange),
    ),
    polled(`${V1BETA}/models`, LIST_MODELS, (exchange) => json(listPage(deps, exchange))),
    polled(MODEL, READ_MODEL, (exchange) => {
      const { name, model } = askedFor(deps, exchange);
      return json(presentModel(name, model));
    }),
    keyed("GET", `${FILE}:download`, DOWNLOAD_FILE, { logLevel: "debug" }, (exchange) =>
      downloadFile(deps, exchange),
    ),
    polled(FILE, READ_FILE, (exchange) => readFile(deps, exchange)),
    polled(`${V1BETA}/files`, LIST_FILES, (exchange) => listFiles(deps, exchange), "lists"),
    keyed("DELETE", FILE, DELETE_FILE, {}, (exchange) => deleteFile(deps, exchange)),
    ...uploadEndpoints(deps),
    ...interactionEndpoints(deps),
  ];
}

/** Files that come before any task, in as many requests as their sender likes. */
function uploadEndpoints(given: Deps): Endpoint[] {
  const deps = { ...given, sessions: createUploadSessions(given) };
  return [
    counted(UPLOADS, BEGIN_UPLOAD, (exchange) => beginUpload(deps, exchange), "creates"),
    {
      method: "POST",
      path: `${UPLOADS}/:upload`,
      contract: CONTINUE_UPLOAD,
      access: "public",
      // Its address is the permission.
      isSecret: true,
      handle: (exchange: Exchange) => continueUpload(deps, exchange),
    },
  ];
}
