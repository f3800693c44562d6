import { LOG_LEVELS, type LogLevel } from "../domain/log-level.ts";
import * as parse from "../toolkit/settings/parsers.ts";
import { setting } from "../toolkit/settings/setting.ts";

const LOG_FORMATS = ["auto", "pretty", "json"] as const;

/** What the service tells of itself: its log and its metrics. */
export function watchingSettings() {
  return {
    log: {
      level: setting<LogLevel>({
        key: "log.level",
        live: true,
        flag: "--log-level <level>",
        help: "debug, info, warn or error",
        parse: parse.oneOf(LOG_LEVELS),
        fallback: "info",
      }),
      format: setting<(typeof LOG_FORMATS)[number]>({
        key: "log.format",
        flag: "--log-format <format>",
        help: "pretty, json, or auto: pretty on a terminal, json elsewhere",
        parse: parse.oneOf(LOG_FORMATS),
        fallback: "auto",
      }),
      keptMb: setting<number>({
        key: "log.kept_mb",
        flag: "--log-kept-mb <megabytes>",
        help: "how much of the log is kept in the data folder for svc logs, the latest; 0 keeps none",
        parse: parse.integer(0, 100_000),
        fallback: 0,
      }),
      requests: setting<boolean>({
        key: "log.requests",
        live: true,
        flag: "--no-log-requests",
        help: "a line for each request; --no-log-requests leaves those that end with a status of 500 and more",
        parse: parse.boolean,
        fallback: true,
      }),
    },
    metrics: {
      public: setting<boolean>({
        key: "metrics.public",
        flag: "--metrics-public",
        help: "GET /metrics needs no management token; it names models, accounts of providers and what is earned",
        parse: parse.boolean,
        fallback: false,
      }),
      address: setting<parse.ListenAddress | undefined>({
        key: "metrics.address",
        flag: "--metrics-address <host:port>",
        help: "address of its own for GET /metrics, without a token, such as 127.0.0.1:9464; 0 for any free port, off for none",
        parse: parse.listenAddressOrOff,
        fallback: undefined,
        fallbackText: "off",
      }),
    },
  };
}
