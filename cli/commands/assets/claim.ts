import type { Command } from "commander";
import { addCommand, onRun, withCommonFlags } from "../../command.ts";
import { asksFirst, confirm } from "../../confirm.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { withExamples, withNotes } from "../../help/manual.ts";
import { type LocalFlags, readLocalConfig, showPath, withLocalFlags } from "../../local.ts";

export function addClaim(assets: Command, context: Context): void {
  const about = "take the bucket of the settings over from another data folder, as after a restore";
  const command = withLocalFlags(withCommonFlags(addCommand(assets, "claim", about)));
  asksFirst(command);
  withExamples(command, "svc assets claim --data-dir ./svc-restored --yes");
  withNotes(
    command,
    "A bucket and prefix belong to one data folder, the first that a server was started with: two would remove each other's files. Stop the other for good first. What lies there stays.",
  );
  onRun<LocalFlags>(command, context, async (invocation) => {
    const { options, output } = invocation;
    const config = readLocalConfig(options, context);
    const { bucket } = config.assets;
    if (bucket === undefined)
      throw usage("The settings name no bucket.", "Give assets.bucket and what belongs to it.");
    const [{ claimBucket }, { existingDatabaseOf }] = await Promise.all([
      import("../../../src/app/assets.ts"),
      import("../../../src/app/data-folder.ts"),
    ]);
    existingDatabaseOf(config);
    const other = await claimBucket(config, { isTrial: true });
    const place = `${bucket.name}/${bucket.prefix}`;
    if (other !== undefined) await confirm(invocation, `Take ${place} from ${other}?`);
    const before = await claimBucket(config, { isTrial: false });
    const folder = showPath(config.dataDir, context.cwd);
    output.show(
      { data_dir: config.dataDir, bucket: bucket.name, prefix: bucket.prefix, before: before ?? null },
      () => `${place} belongs to ${folder}\n`,
    );
  });
}
