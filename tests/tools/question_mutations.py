"""The mutations of what asks a model several questions: explanations, assumptions, objectives. See mutations.py."""

from __future__ import annotations

from tools.mutation import host

EXPLAINER, GROUPS, OBJECTIVES = "explain/explainer.py", "explain/groups.py", "objectives.py"

QUESTIONS = [
    host("explanations", "a core is called minimal before it is", EXPLAINER,
         "self.told(members, self.is_minimal(members))", "self.told(members, True)", "test_explainer.py"),
    host("explanations", "what is not proved counts as refuted", EXPLAINER,
         'return event.status == "UNSATISFIABLE"', 'return event.status != "SATISFIED"',
         "test_explainer.py test_explain.py"),
    host("explanations", "the groups that hold in a solution are forgotten", EXPLAINER,
         "self.solved.append(members | self.satisfied(answer))", "self.solved.append(members)", "test_explainer.py"),
    host("explanations", "a test that had not enough time is not made again with more", EXPLAINER,
         "self.seconds *= PATIENCE", "break", "test_explainer.py"),
    host("explanations", "a stop does not reach a test", EXPLAINER,
         "        whole.halt = self.request\n", "", "test_explainer.py"),
    host("explanations", "an error takes away what is proved", EXPLAINER,
         "except Exception as error:", "except ValueError as error:", "test_explain.py -k meanwhile"),
    host("explanations", "definitions belong to nobody", GROUPS,
         "            ahead += new\n", "            reached -= set(new)\n", "test_groups.py"),
    host("explanations", "the base is not tested", "explain/quickxplain.py",
         "if is_new and refutes(base):", "if False and refutes(base):", "test_quickxplain.py"),
    host("assumptions", "the check does not see them", "model.py",
         "model = replace(base.model, constraints=constraints)", "model = replace(base.model)",
         "test_model.py -k assumption"),
    host("assumptions", "they stay for the next call", "model.py",
         "lower=base.tnf.lower.copy()", "lower=base.tnf.lower", "test_model.py -k assumption"),
    host("building", "models share what is added later", "building.py",
         "[*parsed.constraints], parsed.goal", "parsed.constraints, parsed.goal", "test_builder.py -k later"),
    host("building", "sizes are not looked at", "building.py",
         "if fits is not None and not fits(*plain):", "if False:", "test_builder.py -k refused"),
    host("projection", "the other variables are printed, too", "run/projection.py",
         "annotations=[*others, Ref(\"output_var\")] if is_shown else others", "annotations=variable.annotations",
         "test_projection.py"),
    host("projection", "the output is not decided first", "run/projection.py",
         "strategies=[*(one for one in asked if len(one.variables)), rest, ", "strategies=[",
         "test_projection.py -k completed"),
    host("projection", "outputs are told apart by what they have in common with smaller types", "run/answers.py",
         "return next(fitting, np.int64)", "return np.int8", "test_optimal.py -k smallest"),
    host("several objectives", "a point divides only the box that it was found in", OBJECTIVES,
         "corners = _divided([*corners, corner], least)", "corners += _divided([corner], least)",
         "test_objectives.py -k front"),
    host("several objectives", "what is not proved counts as complete", OBJECTIVES,
         "all_proved &= proved", "all_proved &= True", "test_objectives.py -k stopped"),
    host("several objectives", "an objective is not fixed before the next", OBJECTIVES,
         "            assume[goal.name] = values[goal.name]", "            assert values[goal.name]",
         "test_objectives.py -k front"),
]  # fmt: skip
