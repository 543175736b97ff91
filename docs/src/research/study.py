import json
import subprocess

print("inputs of a gate  test error  spread")
for arity in (2, 4, 6):
    errors = []
    for seed in range(3):
        command = f"gatewood train mnist35 --patterns 0 --spans 0 --rounds 40 --arity {arity} --root-arity 2 --seed {seed} --json"
        result = json.loads(subprocess.run(command.split(), capture_output=True, check=True).stdout)
        errors.append(100 * result["test_error"])
    mean = sum(errors) / len(errors)
    print(f"{arity:16}  {mean:8.2f} %  {max(errors) - min(errors):4.2f} %")
