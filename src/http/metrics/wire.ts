import { contract } from "../openapi/contract.ts";
import { text } from "../wire/schema.ts";

export const READ_METRICS = contract("readMetrics", "Service", "Metrics for Prometheus", {
  description:
    "Numbers of this process and of its database, in the text format of Prometheus. What they mean is in the manual. Needs a management token, unless the operator has opened it to everybody.",
  answers: {
    200: {
      description: "Every metric.",
      content: { "text/plain": text("A line for each number.") },
    },
  },
});
