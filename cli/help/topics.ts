/** What `svc help` explains besides commands. */
export const HELP_TOPICS = ["formatting", "environment", "exit-codes", "settings"] as const;
