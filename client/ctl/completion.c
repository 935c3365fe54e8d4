/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/completion.h"

#include <string.h>

#include "client/ctl/arguments.h"
#include "client/ctl/descriptors.h"
#include "client/ctl/program.h"

static void quote_without(struct csi_text_buffer *out, const char *text, char left_out) {
  csi_text_buffer_put(out, "'");
  for (; *text != '\0'; text++) {
    if (*text == left_out) continue;
    /* PowerShell takes the typographic quotes for the plain one as well; ours are ASCII. */
    if (*text == '\'') csi_text_buffer_put(out, "'");
    csi_text_buffer_add(out, text, 1);
  }
  csi_text_buffer_put(out, "'");
}

void csi_powershell_quote(struct csi_text_buffer *out, const char *text) {
  quote_without(out, text, '\0');
}

/* In a meaning, back quotes only mark the name of a value. */
static void put_pair(struct csi_text_buffer *out, const char *name, const char *meaning) {
  csi_text_buffer_put(out, "        ");
  csi_powershell_quote(out, name);
  csi_text_buffer_put(out, " = ");
  quote_without(out, meaning, '`');
  csi_text_buffer_put(out, "\n");
}

static void put_verbs(struct csi_text_buffer *out) {
  csi_text_buffer_put(out, "    $verbs = [ordered]@{\n");
  for (const struct csi_ctl_verb_table *table = csi_ctl_verb_tables; table->count > 0; table++)
    for (size_t i = 0; i < table->count; i++)
      put_pair(out, table->verbs[i].name, table->verbs[i].summary);
  csi_text_buffer_put(out, "    }\n");
}

static void put_flag(struct csi_text_buffer *out, const struct csi_flag *flag) {
  char name[64] = "-";
  strncat(name, flag->name, sizeof name - 2);
  put_pair(out, name, flag->usage);
}

static void put_value_flag(struct csi_text_buffer *out, const struct csi_flag *flag, const char **separator) {
  if (!csi_arguments_takes_value(flag)) return;
  csi_text_buffer_print(out, "%s'-%s'", *separator, flag->name);
  *separator = ", ";
}

/* Flags with their meaning; then those whose value is the next word. */
static void put_flags(struct csi_text_buffer *out) {
  const struct csi_flag_table global = csi_ctl_global_flags();
  const char *separator = "";
  csi_text_buffer_put(out, "    $flags = [ordered]@{\n");
  for (size_t i = 0; i < global.count; i++)
    put_flag(out, &global.flags[i]);
  csi_text_buffer_put(out, "    }\n    $verbFlags = @{\n");
  for (const struct csi_ctl_verb_table *table = csi_ctl_verb_tables; table->count > 0; table++)
    for (size_t i = 0; i < table->count; i++) {
      const struct csi_ctl_verb *verb = &table->verbs[i];
      if (verb->flag_count == 0) continue;
      csi_text_buffer_print(out, "      '%s' = [ordered]@{\n", verb->name);
      for (size_t k = 0; k < verb->flag_count; k++)
        put_flag(out, &verb->flags[k]);
      csi_text_buffer_put(out, "      }\n");
    }
  csi_text_buffer_put(out, "    }\n    $valueFlags = @(");
  for (size_t i = 0; i < global.count; i++)
    put_value_flag(out, &global.flags[i], &separator);
  for (const struct csi_ctl_verb_table *table = csi_ctl_verb_tables; table->count > 0; table++)
    for (size_t i = 0; i < table->count; i++)
      for (size_t k = 0; k < table->verbs[i].flag_count; k++)
        put_value_flag(out, &table->verbs[i].flags[k], &separator);
  csi_text_buffer_put(out, ")\n");
}

static void put_service(struct csi_text_buffer *out, const upb_ServiceDef *service) {
  csi_text_buffer_print(out, "        '%s' = @(", csi_ctl_version_of(service));
  for (int i = 0; i < upb_ServiceDef_MethodCount(service); i++)
    csi_text_buffer_print(out, "%s'%s'", i > 0 ? ", " : "",
                          upb_MethodDef_Name(upb_ServiceDef_Method(service, i)));
  csi_text_buffer_put(out, ")\n");
}

static bool put_api(struct csi_ctl *ctl, struct csi_text_buffer *out, struct csi_ctl_error *error) {
  csi_text_buffer_put(out, "    $api = [ordered]@{\n");
  for (const char *const *name = csi_ctl_group_names(); *name != NULL; name++) {
    const struct csi_ctl_group *group;
    if (!csi_ctl_find_group(ctl, *name, &group, error)) return false;
    csi_text_buffer_print(out, "      '%s' = [ordered]@{\n", *name);
    for (size_t i = 0; i < group->service_count; i++)
      put_service(out, group->services[i]);
    csi_text_buffer_put(out, "      }\n");
  }
  csi_text_buffer_put(out, "    }\n");
  return true;
}

static const char head[] =
    "# Completion of csi-proxyctl for PowerShell 5.1 and later. For all later sessions:\n"
    "#   csi-proxyctl completion powershell | Out-File -Append -Encoding utf8 $PROFILE\n"
    "Register-ArgumentCompleter -Native -CommandName 'csi-proxyctl', 'csi-proxyctl.exe' -ScriptBlock {\n"
    "    param($wordToComplete, $commandAst, $cursorPosition)\n";

/* The words before the cursor, without flags and their values; then what may follow them. */
static const char tail[] =
    "    $words = @()\n"
    "    $pending = ''\n"
    "    foreach ($element in @($commandAst.CommandElements | Select-Object -Skip 1)) {\n"
    "        if ($element.Extent.EndOffset -ge $cursorPosition) { break }\n"
    "        $text = $element.Extent.Text\n"
    "        if ($pending) { $pending = ''; continue }\n"
    "        if ($text.Length -gt 1 -and $text[0] -eq '-') {\n"
    "            $name = '-' + $text.TrimStart('-')\n"
    "            if ($valueFlags -ccontains $name) { $pending = $name }\n"
    "            continue\n"
    "        }\n"
    "        $words += $text.Trim([char]39, [char]34)\n"
    "    }\n"
    "    $verb = if ($words.Count -gt 0) { $words[0] } else { '' }\n"
    "    $offers = [ordered]@{}\n"
    "    if ($pending -ceq '-o') {\n"
    "        foreach ($value in 'table', 'json', 'yaml') { $offers[$value] = $value }\n"
    "    } elseif ($pending -ceq '-color') {\n"
    "        foreach ($value in 'auto', 'always', 'never') { $offers[$value] = $value }\n"
    "    } elseif ($pending) {\n"
    "        return\n"
    "    } elseif ($wordToComplete -like '-*') {\n"
    "        foreach ($name in $flags.Keys) { $offers[$name] = $flags[$name] }\n"
    "        if ($verbFlags.ContainsKey($verb)) {\n"
    "            foreach ($name in $verbFlags[$verb].Keys) { $offers[$name] = $verbFlags[$verb][$name] }\n"
    "        }\n"
    "    } elseif ($words.Count -eq 0) {\n"
    "        foreach ($name in $verbs.Keys) { $offers[$name] = $verbs[$name] }\n"
    "    } elseif ($verb -ceq 'help' -and $words.Count -eq 1) {\n"
    "        foreach ($name in $verbs.Keys) { $offers[$name] = $verbs[$name] }\n"
    "    } elseif ($verb -ceq 'completion' -and $words.Count -eq 1) {\n"
    "        $offers['powershell'] = 'powershell'\n"
    "    } elseif ($verb -ceq 'explain' -and $words.Count -eq 1) {\n"
    "        $offers['disk'] = 'disk'\n"
    "    } elseif ($verb -ceq 'call' -or $verb -ceq 'describe') {\n"
    "        if ($words.Count -eq 1) {\n"
    "            foreach ($name in $api.Keys) { $offers[$name] = \"group $name\" }\n"
    "        } elseif ($words.Count -eq 2 -and $api.Contains($words[1])) {\n"
    "            foreach ($name in $api[$words[1]].Keys) { $offers[$name] = \"$($words[1]) $name\" }\n"
    "        } elseif ($words.Count -eq 3 -and $api.Contains($words[1]) -and "
    "$api[$words[1]].Contains($words[2])) {\n"
    "            foreach ($name in $api[$words[1]][$words[2]]) { $offers[$name] = \"$($words[1]) "
    "$($words[2]) $name\" }\n"
    "        }\n"
    "    }\n"
    "    foreach ($name in $offers.Keys) {\n"
    "        if ($name -like \"$wordToComplete*\") {\n"
    "            [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', "
    "$offers[$name])\n"
    "        }\n"
    "    }\n"
    "}\n";

/* UNVERIFIED ON WINDOWS: no PowerShell has run the script. */
bool csi_completion_powershell(struct csi_ctl *ctl, struct csi_text_buffer *out,
                               struct csi_ctl_error *error) {
  csi_text_buffer_put(out, head);
  put_verbs(out);
  put_flags(out);
  if (!put_api(ctl, out, error)) return false;
  csi_text_buffer_put(out, tail);
  return !out->out_of_memory || csi_ctl_fail_out_of_memory(error);
}
