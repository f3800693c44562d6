/** What a server with a queue of others is told. */
export interface QueuePlan {
  readonly port: number;
  readonly library: "bullmq" | "bunqueue";
  /** Where both libraries are installed. */
  readonly folder: string;
  /** Of the Redis that BullMQ needs. */
  readonly redisPort: number;
}
