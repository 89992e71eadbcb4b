# tests/system/test_services.py: the settings that name the servers of others.
#
# SPDX-License-Identifier: MIT
"""[llm], [smtp], [mobile] and [execute]: read, checked, and never shown."""
from errand import check, main, test
from standins import Llm, Smtp

SECRET = "sk-very-secret-words"


def lines(nest, **env):
    run = nest.run("doctor", "--data", nest.folder(), expect=None, env=env)
    return run.returncode, {line.split()[1]: line for line in run.stdout.splitlines()}


@test(server=False)
def doctor_says_whether_the_model_and_the_mail_server_answer(nest):
    llm, smtp = Llm(nest), Smtp(nest)
    env = {"ERRAND_LLM_BASE_URL": llm.url, "ERRAND_LLM_MODEL": "small",
           "ERRAND_SMTP_URL": smtp.url, "ERRAND_SMTP_FROM": "Errand <errand@example.org>"}
    status, said = lines(nest, **env)
    check(status == 0 and "it answers" in said["llm"] and "it answers" in said["smtp"], said)
    llm.stop()
    smtp.stop()
    status, said = lines(nest, **env)
    check(status == 1 and "FAIL" in said["llm"] and "FAIL" in said["smtp"], said)


@test(server=False)
def without_them_doctor_says_what_cannot_be_done(nest):
    status, said = lines(nest)
    check(status == 0 and "none" in said["llm"] and "none" in said["smtp"], said)


@test(server=False)
def doctor_logs_in_to_the_mail_server(nest):
    smtp = Smtp(nest, "--user", "ann", "--password", SECRET)
    env = {"ERRAND_SMTP_URL": smtp.url, "ERRAND_SMTP_FROM": "errand@example.org",
           "ERRAND_SMTP_USERNAME": "ann", "ERRAND_SMTP_PASSWORD_ENV": "POST"}
    status, said = lines(nest, POST=SECRET, **env)
    check(status == 0, said)
    status, said = lines(nest, POST="wrong-" + SECRET, **env)
    check(status == 1 and "FAIL" in said["smtp"], said)
    check(SECRET not in str(said), "the password is shown")


@test(server=False)
def encryption_that_is_demanded_is_not_done_without(nest):
    plain, private = Smtp(nest), Smtp(nest, "--starttls")
    for smtp, word, fine in ((plain, "auto", True), (plain, "off", True), (plain, "required", False),
                             (plain, "yes", False), (private, "auto", True), (private, "no", True)):
        _, said = lines(nest, ERRAND_SMTP_URL=smtp.url, ERRAND_SMTP_FROM="errand@example.org",
                        ERRAND_SMTP_STARTTLS=word)
        check(("FAIL" not in said["smtp"]) == fine, (word, said["smtp"]))


@test(server=False)
def settings_that_need_each_other_are_named(nest):
    for env, words in (
            ({"ERRAND_LLM_BASE_URL": "http://127.0.0.1:1/v1"}, "[llm] needs model"),
            ({"ERRAND_LLM_MODEL": "m"}, "[llm] needs base_url"),
            ({"ERRAND_SMTP_URL": "smtp://127.0.0.1:1"}, "[smtp] needs from"),
            ({"ERRAND_SMTP_FROM": "a@example.org"}, "[smtp] needs url"),
            ({"ERRAND_SMTP_URL": "smtp://127.0.0.1:1", "ERRAND_SMTP_FROM": "nobody"}, "from"),
            ({"ERRAND_LLM_BASE_URL": "http://127.0.0.1:1/v1", "ERRAND_LLM_MODEL": "m",
              "ERRAND_LLM_API_KEY_ENV": "NOT_THERE"}, "NOT_THERE"),
            ({"ERRAND_MOBILE_SECRET": SECRET}, "[mobile] secret")):
        said = nest.refuses("--listen", "127.0.0.1:0", "--data", nest.folder(), env=env)
        check(words in said and SECRET not in said, said)


@test(server=False)
def secrets_are_not_in_the_log(nest):
    s = nest.server(env={
        "ERRAND_LLM_BASE_URL": "http://127.0.0.1:1/v1", "ERRAND_LLM_MODEL": "m", "KEY": SECRET,
        "ERRAND_LLM_API_KEY_ENV": "KEY", "ERRAND_EXECUTE_SECRET": SECRET,
        "ERRAND_LOG_LEVEL": "debug"})
    s.terminate()
    check(SECRET not in s.stderr(), "a secret is in the log")


if __name__ == "__main__":
    main()
