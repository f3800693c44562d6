/** Where a value was given. */
export type Source = "flag" | "variable" | "file" | "default";

/** A setting, or a part of the settings file, as people and programs see it. */
export interface ShownSetting {
  /** Its place in the settings file; of a key that only a variable may hold, the variable. */
  readonly key: string;
  /** What it decides; absent for parts of the settings file, which have sections of their own in the documentation. */
  readonly help?: string | undefined;
  /** As the settings file has it; null where it is unset. A secret is masked. */
  readonly value: unknown;
  readonly source: Source;
  /** The flag, the variable, or file, line and column; absent for a default. */
  readonly where?: string | undefined;
  /** The default in words, where there is one. */
  readonly standard?: string | undefined;
  /** Why another value needs a restart; absent where it comes into force at once. */
  readonly restart?: string | undefined;
}

/** What stands in place of a secret. */
export const MASK = "[secret]";

/** Its JSON form. */
export function settingForm({ key, help, value, source, where, standard, restart }: ShownSetting) {
  return {
    ...{ key, description: help ?? null, value, source, where: where ?? null },
    ...{ default: standard ?? null, restart: restart ?? null },
  };
}
