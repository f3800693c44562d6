/** Why one of several results of a completed task is missing (docs/api.md 4.5), by code. */
export const RESULT_ISSUE_MESSAGES = {
  UPSTREAM_ERROR: "The provider did not make this result.",
  CONTENT_MODERATED: "The provider's content policy withheld this result.",
  FINALIZATION_FAILED: "The file of this result could not be retrieved from the provider, or is not usable.",
} as const;

/** The result's file is missing on the disk, or is not as it was stored. */
export const FILE_DAMAGED_MESSAGE = "The file of this result is damaged, or missing.";
