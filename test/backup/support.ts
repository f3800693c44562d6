import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { BackupPlan } from "../../src/backup/write.ts";

export const AT = Date.UTC(2026, 10, 23, 12, 0, 0);
export const ALLOWED = new Set(["svc.db", "svc.yaml", "assets/", "models/"]);

export function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), "svc-backup-"));
}

export function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

export const pathOf = (content: string) => `assets/${sha256(content)}`;

/** A data folder whose "database" is a text, and a plan to back it up. */
export function dataFolder(
  contents: readonly string[],
  more: Partial<BackupPlan> & { source?: string } = {},
) {
  const folder = emptyFolder();
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  put("svc.yaml", "settings");
  for (const content of contents) put(pathOf(content), content);
  const plan: BackupPlan = {
    database: "svc.db",
    copyDatabase: (to) => writeFileSync(to, `database of ${contents.join(", ")}`),
    describe: () => ({
      svc: "1",
      migrations: 1,
      latestMigration: "0001_x",
      source: more.source,
      leftOut: [],
    }),
    *files() {
      yield { path: "svc.yaml", from: join(folder, "svc.yaml") };
      for (const content of contents) {
        const path = pathOf(content);
        yield {
          path,
          from: join(folder, path),
          expected: { sha256: sha256(content), sizeBytes: content.length },
        };
      }
    },
    stillNamed: (paths) => paths,
    ...more,
  };
  return { folder, plan, put };
}

/** Every file below a folder with its content. */
export function contentOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(folder.length + 1), readFileSync(path, "utf8")];
    }),
  );
}
