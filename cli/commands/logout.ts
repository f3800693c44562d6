import type { Command } from "commander";
import { onRun, withCommonFlags } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import { withExamples, withExits } from "../help/manual.ts";
import { DEFAULT_PROFILE } from "../profiles/profile.ts";
import { profilesPath, readProfiles, writeProfiles } from "../profiles/profile-file.ts";
import { profileName } from "./login.ts";

export function defineLogout(command: Command, context: Context): void {
  withCommonFlags(command).option(
    "--profile <name>",
    `name of the profile (SVC_PROFILE; default "${DEFAULT_PROFILE}")`,
  );
  withExits(command, "notFound", "config");
  withExamples(command, "svc logout", "svc logout --profile prod");
  onRun<{ profile?: string }>(command, context, async ({ options, output }) => {
    const name = profileName(options, context);
    const profiles = new Map(readProfiles(context));
    const profile = profiles.get(name);
    const path = profilesPath(context);
    if (profile === undefined) {
      const others = [...profiles.keys()].join(", ");
      throw new Failure(EXIT.notFound, "not_found", `There is no profile "${name}" in ${path}.`, {
        hint: others === "" ? "There is nothing to remove." : `There are: ${others}.`,
      });
    }
    profiles.delete(name);
    writeProfiles(context, profiles);
    output.done(
      `Profile "${name}" (${profile.server}) is removed from ${path}. Its key is still valid: \`svc keys revoke\` on the server ends it.`,
    );
    if (output.mode === "json") output.show({ profile: name, server: profile.server, path }, () => "");
  });
}
