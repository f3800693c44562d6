import * as parse from "../toolkit/settings/parsers.ts";
import { credential, setting } from "../toolkit/settings/setting.ts";

/** Where traces go, and what they tell. */
export function tracingSettings() {
  return {
    tracing: {
      endpoint: setting<string | undefined>({
        key: "tracing.endpoint",
        customaryEnv: "OTEL_EXPORTER_OTLP_ENDPOINT",
        flag: "--tracing-endpoint <url>",
        help: "collector that traces are sent to by OTLP/HTTP (JSON), such as http://127.0.0.1:4318; /v1/traces is added",
        parse: parse.apiUrl,
        fallback: undefined,
        fallbackText: "off",
      }),
      headers: credential({ variable: "OTEL_EXPORTER_OTLP_HEADERS", parse: headers }),
      serviceName: setting<string>({
        key: "tracing.service_name",
        customaryEnv: "OTEL_SERVICE_NAME",
        help: "what the collector calls this server",
        parse: parse.text,
        fallback: "svc",
      }),
      share: setting<number>({
        key: "tracing.share",
        help: "the share, 0 to 1, of requests that is traced; those with a traceparent are traced as it says",
        parse: parse.number(0, 1),
        fallback: 1,
      }),
      prompts: setting<boolean>({
        key: "tracing.prompts",
        help: "the prompt of a task is told with its trace",
        parse: parse.boolean,
        fallback: false,
      }),
    },
  };
}

/** Takes `name=value,name=value`, with percent-encoded values. Never show what was given. */
const headers: parse.Parser<string> = (raw) =>
  typeof raw === "string" && raw.length <= 8192 && readTracingHeaders(raw) !== undefined
    ? { ok: true, value: raw }
    : { ok: false, expected: "headers as name=value, separated by commas" };

/** The headers that a text names; undefined for one that is none. */
export function readTracingHeaders(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = text
    .split(",")
    .map((pair) => /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*([\x21-\x7e ]*?)\s*$/.exec(pair));
  const read = pairs.map((pair) =>
    pair === null ? undefined : ([pair[1] ?? "", decoded(pair[2] ?? "")] as const),
  );
  return read.includes(undefined) ? undefined : Object.fromEntries(read.filter((pair) => pair !== undefined));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
