import type { Config } from "../../config/config.ts";
import { GONE_AFTER_MS } from "../../domain/ports/node-store.ts";
import { SchemaError } from "../../store/sqlite/migrate.ts";
import { reasonOf } from "../../toolkit/system-error.ts";
import { type DatabaseLook, readingSeal } from "./database.ts";
import { auditChecks, keyChecks, routeChecks, schemaChecks, timesOf, workChecks } from "./database-checks.ts";
import { error, type Finding, ok } from "./finding.ts";

type Settings = Pick<Config, "dataDir" | "secretKey" | "previousSecretKey" | "database">;

/** Looks at the PostgreSQL database that nodes share, beside them or without any. Changes nothing. */
export async function lookAtSharedDatabase(config: Settings): Promise<DatabaseLook> {
  const { openSharedInspection } = await import("../../store/postgres/inspection.ts");
  const inspection = openSharedInspection(config.database?.reveal() ?? "");
  try {
    const { version, sizeBytes, now, schema, nodes } = await inspection.look();
    const working = nodes.filter(({ seenAt }) => now - seenAt < GONE_AFTER_MS);
    const looked = { place: "", isServed: working.length > 0 };
    const found = [
      ok("database", `PostgreSQL ${version} answers, and the service can be served from the database.`),
      ...schemaChecks(schema, looked),
    ];
    if (schema instanceof SchemaError || schema.pending.length > 0) return { findings: found };
    const inspected = await inspection.inspect(timesOf(now), readingSeal(config));
    return {
      findings: [
        ...[...found, nodesFound(working.map(({ name }) => name))],
        ...[
          ...workChecks(inspected, looked),
          ...keyChecks(inspected, looked),
          ...routeChecks(inspected, looked),
        ],
        ...(await auditChecks({ sizeBytes, audit: inspection.audit }, looked)),
      ],
      lastBeat: inspected.lastBeat,
    };
  } catch (cause) {
    return { findings: [unusable(reasonOf(cause))] };
  } finally {
    await inspection.stop();
  }
}

function nodesFound(names: readonly string[]): Finding {
  const text = names.length === 0 ? "No node serves the database." : `Nodes at work: ${names.join(", ")}.`;
  return ok("nodes", text);
}

function unusable(reason: string): Finding {
  const fix =
    "Start the server of the database, or write its right address, user and password in SVC_DATABASE.";
  const text = reason.startsWith("The database ") ? reason : `The database cannot be used: ${reason}`;
  return error("database", `${text.replace(/\.$/, "")}.`, fix);
}
