import { suggest } from "../../src/domain/suggest.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { DEFAULT_PROFILE, type Profile } from "./profile.ts";
import { profilesPath, readProfiles } from "./profile-file.ts";

export interface ProfileFlags {
  readonly profile?: string;
}

export interface ChosenProfile extends Profile {
  readonly name: string;
}

/** Whether a flag names the profile, which then goes before the variables of the environment. */
export function isProfileFlagged({ profile }: ProfileFlags): boolean {
  return profile !== undefined;
}

/**
 * The profile that --profile or SVC_PROFILE names, or else the one named "default", if it is there.
 *
 * @throws Failure (exit 2) for a name that no profile has; (exit 12) for a file that cannot be used
 */
export function chosenProfile(
  { profile: flag }: ProfileFlags,
  context: Pick<Context, "env">,
): ChosenProfile | undefined {
  const asked = flag ?? (context.env.SVC_PROFILE || undefined);
  const profiles = readProfiles(context);
  const name = asked ?? DEFAULT_PROFILE;
  const found = profiles.get(name);
  if (found !== undefined) return { name, ...found };
  if (asked === undefined) return undefined;
  const near = suggest(name, [...profiles.keys()]);
  const advice = near === undefined ? "" : ` Did you mean ${near}?`;
  throw usage(
    `There is no profile "${name.slice(0, 80)}" in ${profilesPath(context)}.${advice}`,
    "`svc login --profile NAME` makes one.",
  );
}
