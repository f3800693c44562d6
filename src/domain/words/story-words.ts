/** What the owner of a failed task can do about it, by error code. */
export const TASK_ADVICE = {
  UPSTREAM_CAPACITY_EXHAUSTED: "Retry the task in a few minutes.",
  UPSTREAM_TIMEOUT: "Retry the task; if that happens again, use another model.",
  UPSTREAM_ERROR: "Retry the task; if it fails again, use another model.",
  UPSTREAM_REJECTED: "Change the parameters or the model, and create a new task.",
  CONTENT_MODERATED: "Change the prompt or the inputs, and create a new task.",
  INPUT_UNREACHABLE:
    "Check that the URL can be fetched without a login, or send the file itself in a new task.",
  INPUT_INVALID:
    "Send a PNG, JPEG or WebP image, an MP4 or WebM video, or a WAV, MP3, M4A or Ogg recording, in a new task.",
  DEADLINE_EXCEEDED: "Retry the task; smaller and shorter results are made sooner.",
  FINALIZATION_FAILED: "Retry the task; this one cost nothing.",
  OUTCOME_UNKNOWN: "Retry the task; this one cost nothing.",
  LOOP_DETECTED: "Ask the operator: instances of the service pass tasks to one another in a circle.",
  NO_ROUTE_AVAILABLE: "Use another model, or ask the operator, whose log says why.",
} as const;

/** The outcome of an attempt that made nothing, for the owner of the task. */
export const ATTEMPT_MESSAGES = {
  refused: "The provider did not take this attempt.",
  failed: "The provider took this attempt and failed.",
  unanswered: "The provider's answer to this attempt was lost.",
} as const;
