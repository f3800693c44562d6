CREATE INDEX `asset_of_content` ON `asset` (`sha256`);--> statement-breakpoint
DROP TRIGGER `task_end_is_final`;--> statement-breakpoint
-- What the books add up stays for ever. The rest of an ended task can only go, and what is wrong with its files can be noted.
CREATE TRIGGER `task_end_is_final` BEFORE UPDATE ON `task` WHEN old.`stage` = 'terminal' AND NOT (
	new.`id` = old.`id` AND new.`account_id` = old.`account_id` AND new.`key_id` = old.`key_id` AND new.`kind` = old.`kind`
	AND new.`model` = old.`model` AND new.`lane` = old.`lane` AND new.`stage` = old.`stage` AND new.`pool` IS NULL
	AND new.`held_micros` = old.`held_micros` AND new.`charged_micros` IS old.`charged_micros` AND new.`charge` IS old.`charge`
	AND new.`quota_period` IS old.`quota_period` AND new.`created_at` = old.`created_at` AND new.`completed_at` IS old.`completed_at`
	AND new.`attempts` = old.`attempts` AND abs(new.`change`) = abs(old.`change`)
	AND coalesce(json_array_length(new.`results`), 0) = coalesce(json_array_length(old.`results`), 0)
	AND (new.`status` = 'removed' OR (
		new.`status` = old.`status` AND new.`change` = old.`change` AND new.`request` = old.`request` AND new.`quote` = old.`quote`
		AND new.`results` IS old.`results` AND new.`error` IS old.`error` AND new.`usage` IS old.`usage` AND new.`progress` = old.`progress`
		AND new.`request_id` = old.`request_id` AND new.`origin` = old.`origin`
		AND (new.`callback_url` IS old.`callback_url` OR new.`callback_url` IS NULL)
	))
) BEGIN
	SELECT RAISE(ABORT, 'a finished task never changes');
END;
