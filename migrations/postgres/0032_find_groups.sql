ALTER TABLE "task" ADD COLUMN "begins_group" bigint;
--> statement-breakpoint
UPDATE "task" SET "begins_group" = 1
	WHERE "status" <> 'removed' AND "request"::json -> 'group' -> 'tasks' ->> 0 = "id";
--> statement-breakpoint
CREATE INDEX "task_group" ON "task" USING btree ("account_number","id") WHERE begins_group is not null;
