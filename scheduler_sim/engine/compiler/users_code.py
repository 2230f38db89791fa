"""Code of a user's own: Numba compiles it as it does any, and here it keeps to Python's rules.

- An index out of bounds is an IndexError, never memory of something else; so are arrays of other lengths
  a ValueError where one is written into another.
- Integers that do not fit, shifts, powers, ``math`` and conversions fail where they do in Python.
- A variable that was never assigned is an UnboundLocalError; recursion without end a RecursionError.
- Its loops hear signals: Ctrl-C and SIGTERM end them.
- It writes down at which line it is, and at which job it has looked last: ``outside.WORDS``.

That holds in methods and in all functions that they call, however those were decorated.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir as llvm_ir
from numba.core import cgutils, ir, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import register_pass
from numba.core.errors import TypingError
from numba.core.funcdesc import default_mangler
from numba.core.lowering import Lower
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

from scheduler_sim.engine.compiler import python_rules as rules
from scheduler_sim.engine.compiler.assigned import is_nothing, is_same_variable, maybe_unassigned
from scheduler_sim.engine.compiler.compile import whatever_the_number
from scheduler_sim.engine.compiler.function_arguments import before_types
from scheduler_sim.engine.compiler.linking import PartCompiler
from scheduler_sim.engine.compiler.outside import (
    CHECK_SIGNALS,
    DEPTH,
    LINE,
    OCCURRED,
    ROW,
    TURNS,
    WHERE,
    WORDS,
)

HEARS_EVERY = 1 << 20
"""Turns of loops from one look for signals to the next."""

DEEPEST = 1000
"""So many calls of a function by itself may be open, as in Python."""

TUPLE: Any = types.BaseTuple

TO_INT = {int, round, math.floor, math.ceil, math.trunc}
"""Functions that make a float an integer."""


IN_PLACE = {
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod),
    *(operator.ipow, operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift),
}
"""Operators that write into what is left of them, where that is an array."""


def word_at(builder: Any, word: int) -> Any:
    """Return the place of a word of ``outside.WORDS``, which whoever links the code finds by name."""
    words, number = llvm_ir.ArrayType(llvm_ir.IntType(64), len(WORDS)), llvm_ir.IntType(32)
    there = builder.module.globals.get(WHERE) or llvm_ir.GlobalVariable(builder.module, words, WHERE)
    return builder.gep(there, [number(0), number(word)])


class _Work(NamedTuple):
    """What is being compiled."""

    file: str  # of which lines are told
    twins: dict[Any, Any]  # of functions that the user has compiled


_at_work: list[_Work] = []


@contextmanager
def users_code(file: str) -> Iterator[None]:
    """For as long as this lasts, what a user's methods call is compiled as they are.

    Parameters
    ----------
    file : the one whose lines are told
    """
    kind: Any = types.Dispatcher
    found = kind.dispatcher
    _at_work.append(_Work(file, {}))
    kind.dispatcher = property(lambda one: _checked(found.fget(one)))
    try:
        yield
    finally:
        kind.dispatcher = found
        _at_work.pop()


def _checked(dispatcher: Any) -> Any:
    """What stands in for a function that the user has compiled: the same, compiled anew with all tests."""
    function = dispatcher.py_func
    if issubclass(dispatcher._compiler.pipeline_class, PartCompiler) or _home(function) in OURS:
        return dispatcher
    twins = _at_work[-1].twins
    if dispatcher not in twins:
        njit: Any = numba.njit
        kept = {"error_model", "inline"} & set(dispatcher.targetoptions)
        signatures = None if dispatcher._can_compile else list(dispatcher.overloads)
        options = CHECKED | {name: dispatcher.targetoptions[name] for name in kept}
        made = twins[dispatcher] = njit(signatures, **options)(function)
        made.get_call_template = whatever_the_number(made.get_call_template)
    return twins[dispatcher]


OURS = {"numba", "scheduler_sim"}
"""Packages whose code needs no tests."""


def _home(function: Any) -> str:
    """The package that a function stands in."""
    return (function.__module__ or "").partition(".")[0]


class CheckedLower(Lower):
    """Numba's step from its own code to LLVM's, with the tests."""

    def lower_normal_function(self, fndesc: Any) -> None:
        """Lower a function."""
        self._told_line = 0
        self._maybe, self._bound = maybe_unassigned(self.blocks), dict[str, Any]()
        self._turns = _jumps_back(self.blocks)
        super().lower_normal_function(fndesc)

    def pre_block(self, block: Any) -> None:
        """The line is told anew in each block."""
        super().pre_block(block)
        self._told_line = 0
        self._emit = rules.Emitter(self)

    def lower_inst(self, inst: Any) -> None:
        """Lower a statement."""
        if _may_fail(inst):
            self._tell_line()
        if inst in self._turns:
            self._hear()
        if self._maybe:
            self._look_whether_assigned(inst)
        if isinstance(inst, ir.SetItem | ir.StaticSetItem):
            self._look_at_item(inst)
        elif isinstance(inst, ir.SetAttr) and hasattr(self.typeof(inst.target.name), "fields"):
            of, name = self.typeof(inst.target.name).fields, inst.attr
            if name not in of:
                raise TypingError(f"self.{name} stays the same array; allowed: self.{name}[:] = ..., += ...")
            rules.may_become(name, of[name][0], self.typeof(inst.value.name))
        super().lower_inst(inst)
        if isinstance(inst, ir.Assign):
            self._tell_job(inst)

    # -- signals

    def _hear(self) -> None:
        """One more turn; every so many, call the handlers of signals.

        What a handler raises, Python raises when compiled code has returned, which it does at once. A ``try``
        in the user's code cannot keep that: a caller that goes on all the same looks at its own next turn.
        """
        place, emit = self._place(TURNS), self._emit
        turns = self.builder.add(self.builder.load(place), emit.number(1))
        self.builder.store(turns, place)
        since = self.builder.and_(turns, emit.number(HEARS_EVERY - 1))
        with cgutils.if_unlikely(self.builder, self.builder.icmp_signed("==", since, emit.number(0))):
            failed = self._from_python(CHECK_SIGNALS, llvm_ir.IntType(32))
            waiting = self._from_python(OCCURRED, llvm_ir.IntType(64))
            with cgutils.if_unlikely(self.builder, self.builder.or_(failed, waiting)):
                self.builder.store(emit.number(-1), place)
                self.context.call_conv.return_exc(self.builder)

    def _from_python(self, name: str, gives: Any) -> Any:
        """Call a function of Python's without arguments; whether it returns anything but 0."""
        kind = llvm_ir.FunctionType(gives, [])
        returned = self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), [])
        return self.builder.icmp_signed("!=", returned, llvm_ir.Constant(gives, 0))

    # -- where it is

    def _tell_line(self) -> None:
        loc: Any = self.loc
        line = loc.line
        if loc.filename == _at_work[-1].file and line != self._told_line:
            self._write(LINE, self._emit.number(line))
            self._told_line = line

    def _tell_job(self, inst: Any) -> None:
        """The job that a variable of the user's is now, or of which something is asked."""
        value = inst.value
        if isinstance(value, ir.Expr) and value.op == "getattr":
            name = value.value.name
        else:
            name = inst.target.name
            if name.startswith("$"):
                return
        kind = self.typeof(name)
        if getattr(kind, "is_job", False):
            job = cgutils.create_struct_proxy(kind)(self.context, self.builder, value=self.loadvar(name))
            self._write(ROW, job.number)

    def _place(self, word: int) -> Any:
        return word_at(self.builder, word)

    def _write(self, word: int, value: Any) -> None:
        self.builder.store(value, self._place(word))

    # -- variables

    def _look_whether_assigned(self, inst: Any) -> None:
        """What may not have been assigned has a flag; who uses it looks there."""
        passed_on = isinstance(inst, ir.Assign) and is_same_variable(inst)
        if not passed_on and not isinstance(inst, ir.Del):
            for used in inst.list_vars():
                is_set = isinstance(inst, ir.Assign) and used.name == inst.target.name
                if used.name in self._maybe and not is_set:
                    unset = self.builder.not_(self.builder.load(self._flag(used.name)))
                    text = f"cannot access local variable '{used.unversioned_name}'"
                    self._tell_line()
                    self._emit.raises(
                        unset, UnboundLocalError, f"{text} where it is not associated with a value"
                    )
        if isinstance(inst, ir.Assign) and inst.target.name in self._maybe:
            is_set = llvm_ir.Constant(llvm_ir.IntType(1), not is_nothing(inst))
            source: Any = inst.value
            if passed_on and source.name in self._maybe:
                is_set = self.builder.load(self._flag(source.name))
            self.builder.store(is_set, self._flag(inst.target.name))

    def _flag(self, name: str) -> Any:
        if name not in self._bound:
            self._bound[name] = cgutils.alloca_once(self.builder, llvm_ir.IntType(1))
        return self._bound[name]

    # -- items

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Lower ``value[index]``."""
        self._look_at_index(value, index)
        return super().lower_getitem(resty, expr, value, index, signature)

    def _look_at_item(self, inst: Any) -> None:
        """Before ``target[index] = value``."""
        index = inst.index_var if isinstance(inst, ir.StaticSetItem) else inst.index
        if index is not None:
            self._look_at_index(inst.target, index)
        kind = self.typeof(inst.target.name)
        if isinstance(kind, types.Array):
            given = self.typeof(inst.value.name)
            rules.fits_an_item(self._emit, kind.dtype, self.loadvar(inst.value.name), given)

    def _look_at_index(self, value: Any, index: Any) -> None:
        """What Numba's own test leaves out: masks of another length, and ``flat``."""
        kind, by = self.typeof(value.name), self.typeof(index.name)
        at = self.loadvar(index.name)
        if isinstance(kind, types.NumpyFlatType):
            whole = types.int64
            of_flat = types.none(kind, whole)
            place = self.context.cast(self.builder, at, by, whole)
            arguments = (self.loadvar(value.name), place)
            self.context.compile_internal(self.builder, _inside_flat, of_flat, arguments)
        elif isinstance(kind, types.Array):
            shape = cgutils.unpack_tuple(
                self.builder, self._array(kind, self.loadvar(value.name)).shape, kind.ndim
            )
            parts = [(by, at)]
            if isinstance(by, TUPLE):
                parts = list(zip(by.types, cgutils.unpack_tuple(self.builder, at, len(by)), strict=True))
            for length, (one, mask) in zip(shape, parts, strict=False):
                if isinstance(one, types.Array) and isinstance(one.dtype, types.Boolean) and one.ndim == 1:
                    [known] = cgutils.unpack_tuple(self.builder, self._array(one, mask).shape, 1)
                    other = self.builder.icmp_signed("!=", known, length)
                    self._emit.raises(other, IndexError, rules.OTHER_LENGTH)

    def _array(self, kind: Any, value: Any) -> Any:
        return self.context.make_array(kind)(self.context, self.builder, value)

    # -- arrays as a whole

    def _look_at_shapes(self, sources: Any, target: Any) -> None:
        """Arrays that are added to another, or written into it: Numba reads as far as the other goes."""
        if not isinstance(self.typeof(target.name), types.Array):
            return
        for one in sources:
            if isinstance(self.typeof(one.name), types.Array):
                rules.broadcasts(self._emit, self._shape(one), self._shape(target))

    def _shape(self, variable: Any) -> list[Any]:
        kind = self.typeof(variable.name)
        shape = self._array(kind, self.loadvar(variable.name)).shape
        return list(cgutils.unpack_tuple(self.builder, shape, kind.ndim))

    def _look_at_written(self, function: Any, expr: Any) -> None:
        """What a function of NumPy's, or one of the user's by ``vectorize``, is told to write into."""
        given = len(expr.args) - getattr(function, "nin", len(expr.args))
        if function in IN_PLACE and len(expr.args) == 2:
            self._look_at_shapes(expr.args[1:], expr.args[0])
        elif given > 0:
            for target in expr.args[-given:]:
                self._look_at_shapes(expr.args[:-given], target)
        elif function is np.outer and len(expr.args) + len(expr.kws) == 3:
            variables = dict(zip(("a", "b", "out"), expr.args, strict=False)) | dict(expr.kws)
            arguments = [variables[name] for name in ("a", "b", "out")]
            kinds = [self.typeof(one.name) for one in arguments]
            values = [self.loadvar(one.name) for one in arguments]
            if isinstance(kinds[-1], types.Array):
                self.context.compile_internal(self.builder, _holds_outer, types.none(*kinds), values)

    # -- operators and calls

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Lower an operator on two numbers, or on anything else."""
        signature = self.fndesc.calltypes[expr]
        kinds = [self.typeof(one.name) for one in (expr.lhs, expr.rhs)]
        emit, gives = self._emit, signature.return_type
        if op in IN_PLACE:
            self._look_at_shapes([expr.rhs], expr.lhs)
        left, right = (self.loadvar(one.name) for one in (expr.lhs, expr.rhs))
        if all(map(rules.is_int, kinds)) and gives == types.int64:
            one, other = (emit.as_int(value, kind) for value, kind in zip((left, right), kinds, strict=True))
            result = rules.operate(emit, op, one, other, expr.static_rhs)
            if result is not None:
                return self.context.cast(self.builder, result, types.int64, resty)
        result = super().lower_binop(resty, expr, op)
        if op is operator.pow and gives == types.float64:
            base, exponent = (
                emit.as_float(value, kind) for value, kind in zip((left, right), kinds, strict=True)
            )
            rules.is_real(emit, base, exponent, emit.as_float(result, resty))
        return result

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Lower an expression."""
        if expr.op == "unary" and expr.fn is operator.neg and rules.is_int(self.typeof(expr.value.name)):
            word = self._emit.as_int(self.loadvar(expr.value.name), self.typeof(expr.value.name))
            return self.context.cast(self.builder, rules.negate(self._emit, word), types.int64, resty)
        return super().lower_expr(resty, expr)

    def lower_call(self, resty: Any, expr: Any) -> Any:
        """Lower a call."""
        kind = self.typeof(expr.func.name)
        if isinstance(kind, types.RecursiveCall):
            return self._lower_call_of_itself(resty, expr)
        function = _python_function(kind)
        kinds = [self.typeof(one.name) for one in expr.args]
        floats = [one for one, of in zip(expr.args, kinds, strict=True) if isinstance(of, types.Float)]
        if function is round and len(kinds) > 1 and floats:
            raise TypingError("round() to a number of digits rounds otherwise where it is compiled")
        if function in TO_INT and len(floats) == 1 and isinstance(resty, types.Integer):
            rules.fits_an_int(
                self._emit,
                self._emit.as_float(self.loadvar(floats[0].name), self.typeof(floats[0].name)),
            )
        self._look_at_written(function, expr)
        result = super().lower_call(resty, expr)
        if getattr(function, "__module__", "") == "math" and resty == types.float64:
            arguments = [
                self._emit.as_float(self.loadvar(one.name), of)
                for one, of in zip(expr.args, kinds, strict=True)
                if isinstance(of, types.Number)
            ]
            rules.in_domain(self._emit, function.__name__, tuple(arguments), result)
        return result

    def _lower_call_of_itself(self, resty: Any, expr: Any) -> Any:
        place, one = self._place(DEPTH), self._emit.number(1)
        deep = self.builder.add(self.builder.load(place), one)
        too_deep = self.builder.icmp_signed(">", deep, self._emit.number(DEEPEST))
        self._emit.raises(too_deep, RecursionError, "maximum recursion depth exceeded")
        self.builder.store(deep, place)
        self._hear()
        signature = self.fndesc.calltypes[expr]
        result = self._lower_call_RecursiveCall(self.typeof(expr.func.name), expr, signature)
        self.builder.store(self.builder.sub(self.builder.load(place), one), place)
        return self.context.cast(self.builder, result, signature.return_type, resty)

    def _lower_call_RecursiveCall(self, fnty: Any, expr: Any, signature: Any) -> Any:
        """Call a function that is still being compiled, by its name: it will be in the same entry."""
        context = self.context
        arguments = self.fold_call_args(fnty, signature, expr.args, expr.vararg, expr.kws)
        called, mangler = fnty.get_overloads(signature.args), context.mangler or default_mangler
        name = mangler(called.qualname, signature.args, abi_tags=self.fndesc.abi_tags, uid=called.uid)
        kind = context.call_conv.get_function_type(signature.return_type, signature.args)
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        status, result = context.call_conv.call_function(
            self.builder, function, signature.return_type, signature.args, arguments
        )
        with cgutils.if_unlikely(self.builder, status.is_error):
            context.call_conv.return_status_propagate(self.builder, status)
        return result


def _jumps_back(blocks: Any) -> set[Any]:
    """The statements with which a turn of a loop ends."""
    graph = compute_cfg_from_blocks(blocks)
    return {
        blocks[before].terminator
        for loop in graph.loops().values()
        for before, _ in graph.predecessors(loop.header)
        if before in loop.body
    }


def _may_fail(inst: Any) -> bool:
    """Whether something can go wrong in a statement, of which the line is told then."""
    if isinstance(inst, ir.Assign):
        value = inst.value
        return isinstance(value, ir.Expr) and value.op not in HARMLESS
    return isinstance(inst, ir.SetItem | ir.StaticSetItem | ir.DelItem | ir.StaticRaise | ir.DynamicRaise)


HARMLESS = {
    "getattr",
    "build_tuple",
    "pair_first",
    "pair_second",
    "cast",
    "null",
    "undef",
    "iternext",
    "getiter",
}
"""Expressions in which nothing goes wrong."""


def _python_function(kind: Any) -> Any:
    """The function of Python's that is called, as far as it is one."""
    return kind.typing_key if isinstance(kind, types.Function) else None


def _holds_outer(a: Any, b: Any, out: Any) -> None:
    """``np.outer`` writes a row for each of ``a``, and a column for each of ``b``."""
    if out.shape != (np.asarray(a).size, np.asarray(b).size):
        raise ValueError(rules.OTHER_SHAPE)


def _inside_flat(flat: Any, at: int) -> None:
    """An index into ``flat`` has to be in there; Numba does not count from the end here."""
    if at < 0 or at >= len(flat):
        raise IndexError("index is out of bounds")


@register_pass(mutates_CFG=True, analysis_only=False)
class _CheckedLowering(BaseNativeLowering):
    """Numba's step to LLVM's code, with the tests."""

    _name: Any = "checked_native_lowering"

    @property
    def lowering_class(self) -> Any:
        """Return what lowers."""
        return CheckedLower


class UsersCompiler(PartCompiler):
    """Numba's, with the tests."""

    def define_pipelines(self) -> Any:
        """Return Numba's own passes, but for one, and one more."""
        made = super().define_pipelines()
        for pipeline in made:
            pipeline.passes = [
                (_CheckedLowering, text) if step is NativeLowering else (step, text)
                for step, text in before_types(pipeline.passes)
            ]
            pipeline._finalized = False
            pipeline.finalize()
        return made


CHECKED: dict[str, Any] = {
    "pipeline_class": UsersCompiler,
    "boundscheck": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""How Numba is to compile code of a user's."""
