ALTER TABLE "task" ADD COLUMN "cancels_later" bigint;--> statement-breakpoint
-- The field of another name at another place does no harm: whoever finds a task reads its request.
UPDATE "task" SET "cancels_later" = 1
	WHERE "status" IN ('pending', 'processing')
		AND (strpos("request", '"cancelAt":') > 0 OR strpos("request", '"policy":"first"') > 0);
--> statement-breakpoint
CREATE INDEX "task_cancels_later" ON "task" USING btree ("id") WHERE status in ('pending', 'processing') and cancels_later is not null;
