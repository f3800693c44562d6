-- A trigger before an update makes SQLite find the row once more after it, which takes as long as half of the update.
DROP TRIGGER `task_end_is_final`;
--> statement-breakpoint
CREATE TRIGGER `task_end_is_final` AFTER UPDATE ON `task` WHEN old.`stage` = 'terminal' AND NOT (
	new.`number` = old.`number` AND new.`id` = old.`id` AND new.`account_number` = old.`account_number` AND new.`key_label` = old.`key_label`
	AND new.`kind` = old.`kind` AND new.`model_label` = old.`model_label` AND new.`lane` = old.`lane` AND new.`stage` = old.`stage`
	AND new.`pool` IS NULL AND new.`held_micros` = old.`held_micros` AND new.`charged_micros` IS old.`charged_micros`
	AND new.`charge` IS old.`charge` AND new.`charge_label` IS old.`charge_label` AND new.`quota_period` IS old.`quota_period` AND new.`created_at` = old.`created_at`
	AND new.`completed_at` IS old.`completed_at` AND new.`attempts` = old.`attempts` AND abs(new.`change`) = abs(old.`change`)
	AND coalesce(json_array_length(new.`results`), 0) = coalesce(json_array_length(old.`results`), 0)
	AND (new.`status` = 'removed' OR (
		new.`status` = old.`status` AND new.`change` = old.`change` AND new.`request` = old.`request` AND new.`quote` IS old.`quote`
		AND new.`quote_label` IS old.`quote_label` AND new.`results` IS old.`results` AND new.`error` IS old.`error`
		AND new.`usage` IS old.`usage` AND new.`usage_label` IS old.`usage_label` AND new.`progress` = old.`progress` AND new.`request_id` = old.`request_id`
		AND new.`origin` IS old.`origin` AND new.`origin_label` IS old.`origin_label`
		AND (new.`callback_url` IS old.`callback_url` OR new.`callback_url` IS NULL)
	))
) BEGIN
	SELECT RAISE(ABORT, 'a finished task never changes');
END;
