import { existsSync } from "node:fs";
import type { Command } from "commander";
import { addCommand, onRun, withCommonFlags } from "../../command.ts";
import { asksFirst, confirm } from "../../confirm.ts";
import type { Context } from "../../context.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { type LocalFlags, readLocalConfig, showPath, showPlace, withLocalFlags } from "../../local.ts";

export function addClaim(assets: Command, context: Context): void {
  const about = "take the files of the settings over from another data folder, as after a restore";
  const command = withLocalFlags(withCommonFlags(addCommand(assets, "claim", about)));
  asksFirst(command);
  withExamples(command, "svc assets claim --data-dir ./svc-restored --yes");
  withNotes(
    command,
    "A folder of files, or a bucket and prefix, belongs to one data folder, the first that a server was started with: two would remove each other's files. Stop the other for good first. What lies there stays, but for what no task of this data folder has: its server removes that.",
  );
  onRun<LocalFlags>(command, context, async (invocation) => {
    const { options, output } = invocation;
    const config = readLocalConfig(options, context);
    const [{ filesOwners }, { existingDatabaseOf }] = await Promise.all([
      import("../../../src/app/assets.ts"),
      import("../../../src/app/data-folder.ts"),
    ]);
    if (config.database === undefined) existingDatabaseOf(config);
    const { path, bucket } = config.assets;
    const folder = showPath(path, context.cwd);
    const prefix = bucket && `${bucket.name}/${bucket.prefix}`;
    // A node of a database with a bucket may have no folder of files yet.
    const hasFolder = existsSync(path);
    const found = await filesOwners(config, { isTrial: true });
    const others = [
      [folder, await found.folder.other()],
      [prefix, await found.bucket?.other()],
    ].flatMap(([place, other]) => (other === undefined ? [] : [`${place} from ${other}`]));
    if (others.length > 0)
      await confirm(
        invocation,
        `Take ${others.join(", and ")}? Files there that no task here has will be removed.`,
      );
    const owners = await filesOwners(config, { isTrial: false });
    const folderBefore = (hasFolder ? await owners.folder.take() : undefined) ?? null;
    const before = (await owners.bucket?.take()) ?? null;
    const places = [...(hasFolder ? [folder] : []), ...(prefix === undefined ? [] : [prefix])];
    output.show(
      {
        data_dir: config.dataDir,
        folder: path,
        folder_before: folderBefore,
        bucket: bucket?.name ?? null,
        prefix: bucket?.prefix ?? null,
        before,
      },
      () => places.map((place) => `${place} belongs to ${showPlace(config, context)}\n`).join(""),
    );
  });
}
